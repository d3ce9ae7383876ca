"""Which sessions count, and why the others do not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from felicity.survey.sessions import Session

NO_ANSWER = "no answer"
FAILED = "failed attention checks"
AGAIN = "another session of the same participant"
INCOMPLETE = "incomplete"
REASONS = (NO_ANSWER, FAILED, INCOMPLETE, AGAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Sessions that count, and those that do not, each with its reason (session id to reason)."""

    sessions: tuple[Session, ...]
    excluded: Mapping[str, str]

    @property
    def kept(self) -> tuple[Session, ...]:
        """The sessions that count, in the order in which they began."""
        return tuple(each for each in self.sessions if each.session not in self.excluded)

    def counts(self) -> dict[str, int]:
        """Count sessions by what became of them; see `REASONS`.

        ``incomplete_kept`` are those among the kept that did not come to their end.
        """
        reasons = Counter(self.excluded.values())
        return {
            "sessions": len(self.sessions),
            "participants": len({each.participant for each in self.sessions}),
            "kept": len(self.kept),
            "incomplete_kept": sum(not each.complete for each in self.kept),
            "excluded": len(self.excluded),
            **{f"excluded: {reason}": reasons[reason] for reason in REASONS},
        }


def select_sessions(
    sessions: Sequence[Session], *, allow_failed: int = 0, complete_only: bool = False
) -> Selection:
    """Decide which sessions count.

    Left out are, in this order: sessions without an answer; those that failed more than
    ``allow_failed`` of the attention checks that they reached; incomplete ones, where only
    complete ones are wanted; and of a participant's remaining sessions all but one, which is the
    first complete one, or, where none is, the first with the most answers.

    Examples
    --------
    >>> def visit(name, who, failed=0, complete=True):
    ...     choice = Choice(item_id="i", first="a", chosen="a", correct=True, place=0, seconds=None)
    ...     return Session(session=name, participant=who, number=0, survey="s", started=name,
    ...                    complete=complete, failed=failed, checked=2, about={}, choices=(choice,))
    >>> from felicity.survey.sessions import Choice
    >>> told = [visit("1", "ann", complete=False), visit("2", "ann"), visit("3", "bo", failed=1)]
    >>> select_sessions(told).excluded
    {'3': 'failed attention checks', '1': 'another session of the same participant'}
    """
    excluded: dict[str, str] = {}
    by_participant: dict[str, list[Session]] = defaultdict(list)
    for each in sessions:
        if not each.answers:
            excluded[each.session] = NO_ANSWER
        elif each.failed > allow_failed:
            excluded[each.session] = FAILED
        elif complete_only and not each.complete:
            excluded[each.session] = INCOMPLETE
        else:
            by_participant[each.participant].append(each)
    for own in by_participant.values():
        best = max(own, key=lambda each: (each.complete, 0 if each.complete else each.answers))
        excluded |= {each.session: AGAIN for each in own if each is not best}
    return Selection(sessions=tuple(sessions), excluded=excluded)
