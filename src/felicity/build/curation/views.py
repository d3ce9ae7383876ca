"""What a person is shown of a set: plain values, as they go to the page.

Before somebody has chosen which answer breaks the maxim, nothing that is sent says so: not the
maxim, not the checks, not the model's margin, not the order of the answers; and of the others'
decisions an annotator is sent nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from felicity.build.checks import CheckResult, Value
from felicity.build.curation.margins import Margins
from felicity.build.decisions import ANSWERS, REASON_WORDS, Decision, Role, current_decisions
from felicity.build.folder import BuildFolder
from felicity.build.outcome import Outcome, decide, shown_digest
from felicity.build.wording import Wording

Findings = Mapping[str, Sequence[tuple[CheckResult, Value]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who sits before the page, and whether to annotate or to settle what others differ about."""

    name: str
    role: Role = "annotator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A set as it lies on disk at one moment, and how it is laid out.

    ``seed`` decides, for each annotator, the order of dialogues and of the answers of each.
    """

    build: BuildFolder
    decisions: tuple[Decision, ...]
    findings: Findings
    margins: Margins | None = None
    seed: int = 0


def answer_order(seed: int, annotator: str, dialogue_id: str) -> tuple[str, str]:
    """Return which answer stands first, by chance but always the same.

    Examples
    --------
    >>> answer_order(0, "ann", "quality-01-1") == answer_order(0, "ann", "quality-01-1")
    True
    """
    first, second = ANSWERS
    return (first, second) if _chance(seed, annotator, dialogue_id) % 2 else (second, first)


def reading_order(desk: Desk, person: Person) -> list[str]:
    """Return the dialogues in an annotator's own order; an adjudicator's is that of the set."""
    found = [line.dialogue_id for line in desk.build.originals]
    if person.role == "adjudicator":
        open_to = _open_to(desk, person)
        return [key for key in found if key in open_to]
    return sorted(found, key=lambda key: _chance(desk.seed, person.name, "place", key))


def overview(desk: Desk, person: Person) -> dict[str, Any]:
    """Return the set, and how far a person is with each dialogue."""
    own = own_decisions(desk, person)
    undone = {decision.undoes for decision in own}
    last = next((d for d in reversed(own) if d.judges and d.number not in undone), None)
    plan, states = desk.build.plan, _states(desk, person)
    return {
        "set": {"name": plan.name, "title": plan.title, "language": plan.language.code},
        "person": asdict(person),
        "dialogues": [{"id": key, "state": states[key]} for key in reading_order(desk, person)],
        "reasons": [[key, words] for key, words in REASON_WORDS.items()],
        "last": {"number": last.number, "dialogue": last.dialogue_id} if last else None,
        "maxims": [{"key": m.key, "short": m.short, "gloss": m.gloss} for m in plan.maxims],
        "templates": [[line.template_id, line.maxim] for line in desk.build.bases],
    }


def sheet(desk: Desk, person: Person, dialogue_id: str) -> dict[str, Any]:
    """Return what one person is shown of one dialogue."""
    lines = desk.build.of_dialogue(dialogue_id)
    own = [d for d in own_decisions(desk, person) if d.dialogue_id == dialogue_id]
    order = order_for(desk, person, dialogue_id)
    view: dict[str, Any] = {
        "id": dialogue_id,
        "names": list(desk.build.plan.names[:2]),
        "shown": shown_digest(lines),
        "seen": max((d.number or 0 for d in own), default=0),
        "wordings": [{"wording": x.wording, "question": x.question} for x in lines],
        "answers": [lines[0].texts[label] for label in order],
        "told": dialogue_id in told_of(desk, person),
    }
    if not view["told"]:
        return view
    choice = next((d for d in current_decisions(own) if d.kind == "choose"), None)
    maxim = desk.build.plan.maxim(lines[0].maxim)
    return view | {
        "labels": list(order),
        "chosen": order.index(choice.chosen) if choice and choice.chosen else None,
        "maxim": asdict(maxim),
        "checks": [
            {"check": result.name, "wording": value.wording, "problem": value.problem}
            for result, value in desk.findings.get(dialogue_id, ())
        ],
        "model": _margins(desk, lines),
        "verdicts": [_verdict(line, outcome) for line, outcome in _outcomes(desk, person, lines)],
        "judged": [_judged(d, view["shown"]) for d in current_decisions(own) if d.judges],
        "others": _others(desk, dialogue_id) if person.role == "adjudicator" else [],
    }


def own_decisions(desk: Desk, person: Person) -> list[Decision]:
    """Return a person's decisions in a role, oldest first."""
    return [d for d in desk.decisions if d.annotator == person.name and d.role == person.role]


def order_for(desk: Desk, person: Person, dialogue_id: str) -> tuple[str, str]:
    """Return the order of the answers on a person's screen."""
    if person.role == "adjudicator":
        return ANSWERS[0], ANSWERS[1]
    return answer_order(desk.seed, person.name, dialogue_id)


def told_of(desk: Desk, person: Person) -> set[str]:
    """Return the dialogues of which somebody may know which answer is which.

    They have chosen, or wrote the answers, or adjudicate. Who has adjudicated a dialogue has seen
    it all, and annotates it without a blind choice.
    """
    made = {line.dialogue_id: desk.build.made(line) for line in desk.build.originals}
    if person.role == "adjudicator":
        return {*made}
    wrote = {key for key, by in made.items() if by and (by.kind, by.by) == ("person", person.name)}
    mine = [d for d in desk.decisions if d.annotator == person.name]
    return wrote | {d.dialogue_id for d in mine if d.kind == "choose" or d.role == "adjudicator"}


def _chance(*parts: object) -> int:
    text = "\n".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


def _open_to(desk: Desk, person: Person) -> set[str]:
    """Return what a person may settle: disputed, or settled by them.

    An annotator sees here only what they have judged: of the rest they are to know nothing yet.
    """
    by_annotators = [d for d in desk.decisions if d.role == "annotator"]
    disputed = {
        outcome.line.dialogue_id
        for outcome in decide(desk.build.wordings, by_annotators)
        if outcome.state == "disputed"
    }
    mine = [d for d in by_annotators if d.annotator == person.name]
    if not mine:
        return disputed
    return disputed & {d.dialogue_id for d in current_decisions(mine) if d.judges}


def _outcomes(
    desk: Desk, person: Person, lines: Sequence[Wording]
) -> list[tuple[Wording, Outcome]]:
    """Return what a person's own decisions come to; for an adjudicator all decisions."""
    mine = own_decisions(desk, person) if person.role == "annotator" else desk.decisions
    return list(zip(lines, decide(lines, mine), strict=True))


def _states(desk: Desk, person: Person) -> dict[str, str]:
    """Say how far a person is with each dialogue."""
    own = own_decisions(desk, person)
    counted = own if person.role == "annotator" else desk.decisions
    found: dict[str, set[str]] = {}
    for outcome in decide(desk.build.wordings, counted):
        found.setdefault(outcome.line.dialogue_id, set()).add(outcome.state)
    judged = {d.dialogue_id for d in current_decisions(own) if d.judges}
    told = told_of(desk, person)
    states = {}
    for key, of_lines in found.items():
        left = of_lines & {"undecided", "disputed"}
        if of_lines == {"undecided"}:
            # What was judged and is undecided all the same was judged as other texts.
            states[key] = "changed" if key in judged else "chosen" if key in told else "new"
        elif left:
            states[key] = min(left)
        else:
            states[key] = min(of_lines) if len(of_lines) == 1 else "mixed"
    return states


def _verdict(line: Wording, outcome: Outcome) -> dict[str, Any]:
    return {
        "wording": line.wording,
        "state": outcome.state,
        "texts": outcome.line.texts,
        "before": dict(outcome.changed or {}),
    }


def _judged(decision: Decision, shown: str) -> dict[str, Any]:
    return {
        "number": decision.number,
        "kind": decision.kind,
        "wording": decision.wording,
        "reasons": list(decision.reasons),
        "comment": decision.comment,
        "texts": dict(decision.texts),
        "stale": decision.shown != shown,
    }


def _margins(desk: Desk, lines: Sequence[Wording]) -> dict[str, Any] | None:
    if desk.margins is None:
        return None
    nats = {line.wording: desk.margins.nats.get((line.dialogue_id, line.wording)) for line in lines}
    if all(value is None for value in nats.values()):
        return None
    return {"name": desk.margins.model, "nats": nats}


def _others(desk: Desk, dialogue_id: str) -> list[dict[str, Any]]:
    """Return annotators' decisions for an adjudicator, under numbers."""
    names = list(dict.fromkeys(d.annotator for d in desk.decisions if d.role == "annotator"))
    shown = shown_digest(desk.build.of_dialogue(dialogue_id))
    found: dict[int, dict[str, Any]] = {}
    for decision in current_decisions(desk.decisions):
        if decision.role != "annotator" or decision.dialogue_id != dialogue_id:
            continue
        number = names.index(decision.annotator) + 1
        entry = found.setdefault(number, {"annotator": number, "right": None, "judged": []})
        if decision.kind == "choose":
            entry["right"] = decision.chosen == "violator"
        else:
            entry["judged"].append(_judged(decision, shown))
    return [found[number] for number in sorted(found)]
