"""Where runs are computed: on this machine one after the other, on a cluster side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from felicity.errors import OptionError
from felicity.running.kept import Kept
from felicity.running.voice import note

Job = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where models are opened, and how jobs of several models are done."""

    kept: Kept = field(default_factory=Kept)

    def do_all(self, jobs: Sequence[Job]) -> None:
        """Do all jobs; an interrupt ends them all.

        On a cluster as many at once as it has room for workers: each begins with a worker of its
        own, and those that come later to an end get the room of the others.
        """
        cluster = self.kept.cluster
        if cluster is None or len(jobs) < 2:
            for job in jobs:
                self._do(job)
            return
        with ThreadPoolExecutor(max_workers=min(len(jobs), cluster.slots())) as threads:
            try:
                for future in [threads.submit(self._do, job) for job in jobs]:
                    future.result()
            except BaseException:
                cluster.stop()
                threads.shutdown(wait=True, cancel_futures=True)
                raise

    def _do(self, job: Job) -> None:
        try:
            job()
        finally:
            if self.kept.cluster is not None:
                self.kept.let_go()


@contextmanager
def place_of(
    on: str | None, gpus: float | None, cpus: float | None, workers: int | None
) -> Iterator[Place]:
    """Join the cluster that the options name, and leave it in the end; None is this machine.

    Raises
    ------
    OptionError
        Where options of a cluster are given and none is named.
    """
    if on is None:
        for option, value in (
            ("--gpus-per-task", gpus),
            ("--cpus-per-task", cpus),
            ("--workers", workers),
        ):
            if value is not None:
                raise OptionError(
                    f"got {value:g}; expected nothing, without a cluster",
                    where=option,
                    hint="name it with --on ray",
                )
        yield Place()
        return
    from felicity.cluster import Cluster, parse_on

    where = parse_on(on, gpus=gpus or 0.0, cpus=1.0 if cpus is None else cpus, workers=workers)
    with Cluster(where) as cluster:
        note(f"Ray: room for {cluster.slots()} workers")
        yield Place(kept=Kept(cluster))
