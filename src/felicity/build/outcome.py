"""What the decisions come to: for each dialogue and wording whether it stays, and its texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from felicity.build.decisions import Decision, current_decisions
from felicity.build.wording import Wording, digest

State = Literal["accepted", "edited", "rejected", "disputed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What has been decided about one wording of a dialogue.

    Attributes
    ----------
    line
        With its texts as they are after edits.
    state
        ``disputed`` where annotators differ and nobody has settled it.
    judges
        Who has judged it as it stands.
    changed
        What an edit changed: field to the text before.
    """

    line: Wording
    state: State
    judges: tuple[str, ...] = ()
    changed: Mapping[str, str] | None = None

    @property
    def stays(self) -> bool:
        """Whether it was accepted, as it was or as it was edited."""
        return self.state in ("accepted", "edited")


def shown_digest(wordings: Iterable[Wording]) -> str:
    """Hash what an annotator sees of a dialogue: the texts of its wordings, in order."""
    return digest([line.texts for line in wordings])


def decide(wordings: Sequence[Wording], decisions: Sequence[Decision]) -> tuple[Outcome, ...]:
    """Work out what holds of each wording.

    A decision about a dialogue as a whole holds for each of its wordings about which the same
    person has decided nothing by itself. An adjudicator's decision counts alone. Annotators agree
    where all accept, all reject, or all make the same edit; else the wording is ``disputed``.
    Decisions about texts that have changed since are not counted.

    Parameters
    ----------
    wordings
        All lines of a set.
    decisions
        Every row of the file, oldest first.
    """
    of_dialogue: dict[str, list[Wording]] = defaultdict(list)
    for line in wordings:
        of_dialogue[line.dialogue_id].append(line)
    shown = {key: shown_digest(lines) for key, lines in of_dialogue.items()}
    judged: dict[str, list[Decision]] = defaultdict(list)
    for decision in current_decisions(decisions):
        if decision.judges and decision.shown == shown.get(decision.dialogue_id):
            judged[decision.dialogue_id].append(decision)
    return tuple(_outcome(line, judged[line.dialogue_id]) for line in wordings)


def _outcome(line: Wording, decisions: Sequence[Decision]) -> Outcome:
    of_person: dict[tuple[str, str], dict[str | None, Decision]] = defaultdict(dict)
    for decision in decisions:
        of_person[decision.annotator, decision.role][decision.wording] = decision
    held = {
        person: verdicts[line.wording if line.wording in verdicts else None]
        for person, verdicts in of_person.items()
        if line.wording in verdicts or None in verdicts
    }
    settled = {person: d for person, d in held.items() if person[1] == "adjudicator"}
    counted = settled or held
    if not counted:
        return Outcome(line=line, state="undecided")
    edits = [_edits(line, of_person[person], d) for person, d in counted.items()]
    kinds = {"reject" if d.kind == "reject" else "keep" for d in counted.values()}
    judges = tuple(sorted({annotator for annotator, _ in counted}))
    if len(kinds) > 1 or (kinds == {"keep"} and any(edit != edits[0] for edit in edits)):
        return Outcome(line=line, state="disputed", judges=judges)
    if kinds == {"reject"}:
        return Outcome(line=line, state="rejected", judges=judges)
    if not edits[0]:
        return Outcome(line=line, state="accepted", judges=judges)
    before = {name: getattr(line, name) for name in edits[0]}
    texts: Any = edits[0]
    edited = replace(line, **texts)
    return Outcome(line=edited, state="edited", judges=judges, changed=before)


def _edits(
    line: Wording, verdicts: Mapping[str | None, Decision], decision: Decision
) -> dict[str, str]:
    """Return what one person's edits change in a line, answers taken from any wording's edit."""
    found: dict[str, str] = {}
    for other in verdicts.values():
        found |= {name: text for name, text in other.texts.items() if name != "question"}
    if "question" in decision.texts and (decision.wording or "0") == line.wording:
        found["question"] = decision.texts["question"]
    return {name: text for name, text in found.items() if text != getattr(line, name)}
