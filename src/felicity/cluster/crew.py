"""The workers of one model: started, given batches, replaced when they die."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from felicity.cluster.opening import Opened, Refused
from felicity.cluster.worker import Worker, failure
from felicity.errors import RunError
from felicity.participants.base import Plan
from felicity.participants.memory import Scored
from felicity.participants.opening import Opening

if TYPE_CHECKING:
    from felicity.cluster.connection import Cluster

# A batch that has taken so many workers down is given up, and the others go on.
KILLS = 3
# A batch that was lost so often, by whatever cause, is given up too: nothing goes on for ever.
LOSSES = 10
# Workers that batches have taken down, one after the other with none scored in between.
DEATHS = 8
# Workers that die while they load, one after the other, before the run ends.
FALSE_STARTS = 3
# Workers refused (no such folder there, other weights) before no more are tried.
REFUSALS = 3
# Batches that lie ready at a worker, so that it never waits for the next.
AHEAD = 2
# Seconds between looks at whether the run is to stop, and until a wait is worth a word.
TICK, PATIENCE = 1.0, 15.0


@dataclass(slots=True, kw_only=True)
class Shard:
    """One batch on its way: its places in the plan, and a plan of it alone."""

    batch: tuple[int, ...]
    plan: Plan
    kills: int = 0
    losses: int = 0

    def singles(self) -> list[Shard]:
        """Return a shard for each text, with one chance left."""
        return [
            Shard(
                batch=(place,),
                plan=replace(self.plan, encoded=(encoded,), batches=((0,),)),
                kills=KILLS - 1,
                losses=self.losses,
            )
            for place, encoded in zip(self.batch, self.plan.encoded, strict=True)
        ]


@dataclass(slots=True, kw_only=True, eq=False)
class _Member:
    """One worker as the driver knows it; ``work`` is answered in order, first in, first out."""

    actor: Any
    opening: Any
    opened: Opened | None = None
    batches: int = 0
    work: deque[tuple[Any, Shard]] = field(default_factory=deque)


class Crew:
    """All workers of one model.

    Parameters
    ----------
    cluster
        Where they live.
    opening
        What each of them opens.
    report
        Called with a line where a worker joins, dies or is refused.
    """

    def __init__(self, cluster: Cluster, opening: Opening, report: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._opening = opening
        self._report = report
        self._members: list[_Member] = []
        self._past: list[_Member] = []
        self._first: Opened | None = None
        self._false_starts = 0
        self._refusals = 0
        self._deaths = 0

    # -- joining and leaving -------------------------------------------------------------------

    def first(self) -> Opened:
        """Start a worker, wait for its model, and return what it says.

        Raises
        ------
        ModelError, OptionError
            Where it cannot open the model.
        RunError
            Where worker after worker dies of it.
        """
        self._ready()
        assert self._first is not None
        return self._first

    def close(self) -> None:
        """Stop all workers."""
        for member in list(self._members):
            self._let_go(member)

    def workers(self) -> list[dict[str, Any]]:
        """Return a row for each worker that has loaded the model."""
        return [
            {
                "host": member.opened.host,
                "pid": member.opened.pid,
                "device": member.opened.info.device,
                "threads": member.opened.threads,
                "torch": member.opened.torch,
                "seconds_to_load": member.opened.seconds,
                "batches": member.batches,
            }
            for member in (*self._past, *self._members)
            if member.opened
        ]

    def _start(self) -> None:
        import ray

        place = self._cluster.place
        kind: Any = ray.remote(Worker)
        actor = kind.options(
            num_cpus=place.cpus, num_gpus=place.gpus, max_restarts=0, max_task_retries=0
        ).remote(self._opening, place.cpus, place.gpus)
        self._members.append(_Member(actor=actor, opening=actor.open.remote()))

    def _let_go(self, member: _Member) -> None:
        import ray

        self._members.remove(member)
        if member.opened:
            self._past.append(member)
        self._cluster.give_seat()
        try:
            ray.kill(member.actor, no_restart=True)
        except Exception as error:  # it is gone, or the whole cluster is
            self._report(f"a worker could not be stopped: {type(error).__name__}")

    def _grow(self, waiting: int) -> None:
        """Start one worker more where there is work and room for it; none may be on its way."""
        if self._members:
            on_its_way = any(member.opened is None for member in self._members)
            if waiting <= len(self._members) or on_its_way or self._refusals >= REFUSALS:
                return
            if not self._cluster.has_room():
                return
        if self._cluster.take_seat():
            self._start()

    def _welcome(self, member: _Member) -> None:
        """Take in a worker that has opened the model, unless it is not the same model."""
        import ray

        try:
            answer = ray.get(member.opening)
        except ray.exceptions.RayTaskError as error:
            answer = Refused(error=failure(error.cause, self._opening.spec), host="a machine")
        except ray.exceptions.RayError as error:
            self._let_go(member)
            self._false_start(error)
            return
        self._false_starts = 0
        if isinstance(answer, Refused):
            self._refuse(member, answer)
            return
        self._first = self._first or answer
        other = answer.other_than(self._first)
        if other:
            mixed = RunError(
                "a worker has another model than the first\n  " + "\n  ".join(other),
                where=self._opening.spec,
                hint="its folder, or its cache of the hub, is not the same on every machine",
            )
            self._refuse(member, Refused(error=mixed, host=answer.host))
            return
        member.opened = answer
        self._report(
            f"{self._opening.spec}: a worker on {answer.host} ({answer.info.device}) is ready "
            f"after {answer.seconds:.1f} s"
        )

    def _false_start(self, error: Exception) -> None:
        """Count a worker that died while it loaded; after some, none more is tried."""
        self._false_starts += 1
        if self._false_starts < FALSE_STARTS:
            return
        told = f"{self._false_starts} workers died while they loaded the model"
        if any(each.opened for each in self._members):
            self._refusals = REFUSALS
            self._report(f"{told}; no more are tried: {_cause(error)}")
            return
        raise RunError(
            f"{told}, the last of: {_cause(error)}",
            where=self._opening.spec,
            hint="too little memory for it, or a machine without the same Felicity; Ray's logs on "
            "that machine say more",
        ) from error

    def _refuse(self, member: _Member, refused: Refused) -> None:
        """Leave a worker out; where no other is left, its reason is the run's."""
        self._let_go(member)
        self._refusals += 1
        if any(each.opened for each in self._members):
            self._report(f"a worker on {refused.host} is left out: {refused.error}")
            return
        error = refused.error
        place = f"{error.where} (on {refused.host})" if error.where else f"on {refused.host}"
        error.where = place
        raise error

    # -- work ------------------------------------------------------------------------------------

    def _ready(self) -> _Member:
        """Return a worker that has its model; start one and wait for it if need be."""
        began = said = time.monotonic()
        while True:
            for member in self._members:
                if member.opened:
                    return member
            self._cluster.check()
            self._grow(1)
            self._poll([member.opening for member in self._members])
            now = time.monotonic()
            if now - said > PATIENCE:
                said = now
                self._report(
                    f"{self._opening.spec}: {now - began:.0f} s without a worker; it loads, or "
                    "waits for room on the cluster"
                )

    def ask(self, method: str, *arguments: Any) -> Any:
        """Have one worker do something; another where it dies of that, a few times."""
        import ray

        lost = ""
        for _ in range(KILLS):
            member = self._ready()
            ref = getattr(member.actor, method).remote(*arguments)
            while not ray.wait([ref], timeout=TICK)[0]:
                self._cluster.check()
            try:
                answer = ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                raise failure(error.cause, self._opening.spec) from error
            except ray.exceptions.RayError as error:
                lost = _cause(error)
                self._let_go(member)
                continue
            if isinstance(answer, Refused):
                raise answer.error
            return answer
        raise RunError(f"{KILLS} workers died: {lost}", where=f"{self._opening.spec}, {method}")

    def score(self, queue: deque[Shard]) -> Iterator[Scored]:
        """Have all batches scored; yield them as they come back, with their places in the plan."""
        while queue or any(member.work for member in self._members):
            self._cluster.check()
            self._grow(len(queue))
            self._hand_out(queue)
            refs = {member.work[0][0]: member for member in self._members if member.work}
            opening = [member.opening for member in self._members if not member.opened]
            for ref in self._poll([*opening, *refs]):
                yield from self._take(refs[ref], queue)

    def _hand_out(self, queue: deque[Shard]) -> None:
        """Give each worker its next batches, one each before any gets a second."""
        for depth in range(AHEAD):
            for member in self._members:
                if queue and member.opened and len(member.work) <= depth:
                    shard = queue.popleft()
                    member.work.append((member.actor.score.remote(shard.plan), shard))

    def _poll(self, refs: list[Any]) -> list[Any]:
        """Wait a moment; welcome workers that have opened; return the other answers."""
        import ray

        if not refs:
            time.sleep(TICK)
            return []
        ready = ray.wait(refs, num_returns=1, timeout=TICK)[0]
        newcomers = {m.opening: m for m in self._members if m.opened is None}
        for ref in ready:
            if ref in newcomers:
                self._welcome(newcomers[ref])
        return [ref for ref in ready if ref not in newcomers]

    def _take(self, member: _Member, queue: deque[Shard]) -> Iterator[Scored]:
        """Yield what a worker's first batch has become; where the worker is dead, let it go."""
        import ray

        ref, shard = member.work.popleft()
        try:
            answer: list[Scored] = ray.get(ref)
        except ray.exceptions.RayTaskError as error:
            raise failure(error.cause, self._opening.spec) from error
        except ray.exceptions.RayError as error:
            yield from self._bury(member, shard, error, queue)
            return
        member.batches += 1
        self._deaths = 0
        for scored in answer:
            yield replace(scored, places=tuple(shard.batch[i] for i in scored.places))

    def _bury(
        self, member: _Member, shard: Shard, error: Exception, queue: deque[Shard]
    ) -> Iterator[Scored]:
        """Give a dead worker's batches to others; give up one that has killed too often."""
        import ray

        assert member.opened is not None
        cause = _cause(error)
        # Of a machine that is gone, no batch is to blame.
        is_killer = not isinstance(
            error, ray.exceptions.ActorUnavailableError
        ) and self._cluster.is_alive(member.opened.node)
        shard.kills += is_killer
        self._deaths += is_killer
        for other in (shard, *(waiting for _, waiting in member.work)):
            other.losses += 1
        queue.extendleft(waiting for _, waiting in reversed(member.work))
        self._let_go(member)
        if self._deaths > DEATHS + len(self._members):
            raise RunError(
                f"{self._deaths} workers died one after the other, the last of: {cause}",
                where=self._opening.spec,
                hint="too little memory for a batch? try a lower --batch-tokens, or more room for "
                "each worker",
            ) from error
        # Last, so that what is not to blame is done before it strikes again.
        if shard.kills < KILLS and shard.losses < LOSSES:
            queue.append(shard)
            self._report(f"a worker on {member.opened.host} died ({cause}); its batches go on")
        elif len(shard.batch) > 1:
            # One text of them may be to blame; the others are not to go with it.
            queue.extend(shard.singles())
            self._report(f"{shard.kills} workers died of a batch; its texts go on one by one")
        else:
            reason = f"{shard.losses} workers lost over it, the last of: {cause}"
            yield Scored(places=shard.batch, scores=(), reason=reason)


def _cause(error: Exception) -> str:
    """Say in a line why a worker died."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in lines:
        if line.startswith("The actor is dead because") or "No module named" in line:
            return line.removeprefix("The actor is dead because ")[:300]
    return lines[0][:300] if lines else type(error).__name__
