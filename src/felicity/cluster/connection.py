"""Join a Ray cluster, or start Ray on this machine, and leave it again."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from felicity.cluster.participant import RayParticipant
from felicity.cluster.place import OnRay
from felicity.errors import OptionError, RunError
from felicity.participants.opening import Opening

# Little goes through Ray's shared memory: texts and scores. Its own default is a third of RAM.
OBJECT_STORE = 100 * 2**20
# Seconds between two looks at what is free.
LOOK = 1.0


class Cluster:
    """A Ray cluster while it is used; a context manager.

    Where this process is joined to Ray already, that is used and left as it is.

    Parameters
    ----------
    place
        Which cluster, and what a worker takes of it.

    Raises
    ------
    OptionError, RunError
        On entering: where Ray is not installed, the cluster is not there, or no machine of it has
        room for a single worker.
    """

    def __init__(self, place: OnRay) -> None:
        self.place = place
        self._own = False
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._seats = 0
        self._looked = 0.0

    def __enter__(self) -> Self:
        self._own = _join(self.place.address)
        try:
            if not self.slots():
                raise OptionError(self._no_room(), where="--on", hint=_hint(self.place))
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._leave()

    def open(
        self, opening: Opening, report: Callable[[str], None] = lambda _: None
    ) -> RayParticipant:
        """Open a model on one worker; more join it while it scores.

        Returns
        -------
        RayParticipant
            To be closed, or used as a context manager: its workers hold machines until then.

        Raises
        ------
        ModelError, OptionError
            Where the worker cannot open the model, with the machine on which it could not.
        RunError
            Where worker after worker dies of it.
        """
        return RayParticipant.opened(self, opening, report)

    def slots(self) -> int:
        """Return how many workers the machines that are there now have room for."""
        ray = _ray()
        wanted = self.place.resources
        room: int = sum(
            int(min(node["Resources"].get(name, 0.0) / amount for name, amount in wanted.items()))
            for node in ray.nodes()
            if node["Alive"]
        )
        return room if self.place.workers is None else min(room, self.place.workers)

    def is_alive(self, node: str) -> bool:
        """Whether a machine is still part of the cluster, by Ray's id of it."""
        ray = _ray()
        return any(each["NodeID"] == node and each["Alive"] for each in ray.nodes())

    def has_room(self) -> bool:
        """Whether another worker could start at once; looks at most once in `LOOK` seconds."""
        ray = _ray()
        now = time.monotonic()
        if now - self._looked < LOOK:
            return False
        self._looked = now
        free = ray.available_resources()
        return all(free.get(name, 0.0) >= amount for name, amount in self.place.resources.items())

    def take_seat(self) -> bool:
        """Count one worker more, unless there are as many as may be."""
        with self._lock:
            if self.place.workers is not None and self._seats >= self.place.workers:
                return False
            self._seats += 1
            return True

    def give_seat(self) -> None:
        """Count one worker less."""
        with self._lock:
            self._seats -= 1

    def stop(self) -> None:
        """Make every run on this cluster end as if interrupted, whatever thread it is in."""
        self._stopped.set()

    def check(self) -> None:
        """Raise KeyboardInterrupt where runs are to end."""
        if self._stopped.is_set():
            raise KeyboardInterrupt

    def _no_room(self) -> str:
        ray = _ray()
        wanted = ", ".join(f"{amount:g} {name}" for name, amount in self.place.resources.items())
        there = [
            ", ".join(f"{node['Resources'].get(name, 0):g} {name}" for name in ("CPU", "GPU"))
            for node in ray.nodes()
            if node["Alive"]
        ]
        return f"a worker takes {wanted}; got machines with {'; '.join(there) or 'nothing'}"

    def _leave(self) -> None:
        ray = _ray()
        if self._own:
            ray.shutdown()
            self._own = False


def _hint(place: OnRay) -> str:
    taken = "--gpus-per-task" if place.gpus else "--cpus-per-task"
    return f"lower {taken}, or start Ray on machines that have more"


def _ray() -> Any:
    """Return Ray, which has not said the types of all that it has."""
    import ray

    return ray


def _join(address: str | None) -> bool:
    """Join a cluster; return whether it is for us to leave it."""
    # Ray reports its use to its makers unless told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A worker without a GPU chooses the processor by itself; Ray need not hide the devices.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise OptionError(
            "Ray is not installed", where="--on", hint="pip install 'felicity[ray]'"
        ) from None
    if ray.is_initialized():
        return False
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    address = address or os.environ.get("RAY_ADDRESS")
    if address is None:
        options |= {"include_dashboard": False, "object_store_memory": OBJECT_STORE}
    try:
        ray.init(address=address or "local", **options)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RunError(
            f"no Ray cluster can be joined: {first}",
            where=f"--on ray:{address}" if address else "--on ray",
            hint="`ray status` on that machine says whether Ray runs there; the versions of Ray "
            "and Python must be the same on all machines",
        ) from error
    return True
