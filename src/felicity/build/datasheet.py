"""The datasheet of an exported set: what it is, how it was made, what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from felicity.build.agreement import (
    blind_choices,
    joint_agreement,
    pair_agreements,
    verdicts_of,
)
from felicity.build.checks import CheckResult
from felicity.build.decisions import REASON_WORDS, Decision, current_decisions
from felicity.build.folder import BuildFolder, today
from felicity.build.outcome import Outcome
from felicity.build.status import reply_statuses
from felicity.build.template import Template
from felicity.build.wording import ORIGINAL, Wording
from felicity.stats.accuracy import Interval

SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that a datasheet says something about.

    ``build`` is the whole set, ``kept`` what went into the study; ``left_out`` says why the rest
    did not.
    """

    build: BuildFolder
    kept: BuildFolder
    left_out: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    decisions: tuple[Decision, ...]
    results: tuple[CheckResult, ...]
    take: str


def datasheet(facts: Facts) -> str:
    """Write the datasheet."""
    plan = facts.kept.plan
    sections = [
        [f"# Datasheet: {plan.name} {plan.version}"],
        _what(facts),
        _how(facts),
        _judged(facts),
        _changed(facts),
        _checked(facts),
        _cues(facts),
        [
            "## Licence",
            f"{plan.licence}. Written by `felicity build export` on {today()}; "
            "provenance.jsonl says of each text who made it.",
        ],
    ]
    return "\n\n".join(text for section in sections for text in section) + "\n"


def _what(facts: Facts) -> list[str]:
    kept, plan = facts.kept, facts.kept.plan
    wordings = Counter(line.maxim for line in kept.wordings)
    dialogues = Counter(line.maxim for line in kept.originals)
    templates = Counter(template.maxim for template in kept.templates)
    pairs = len(plan.names) * (len(plan.names) - 1)
    rows = [
        (
            f"`{m.key}`",
            m.gloss,
            m.violator,
            str(templates[m.key]),
            str(dialogues[m.key]),
            str(wordings[m.key] * pairs),
        )
        for m in plan.maxims
        if dialogues[m.key]
    ]
    lead = (
        f"{plan.description or plan.title} Language: {plan.language.code}. "
        f"{len(kept.originals)} dialogues, each a question with two answers: the *follower* keeps "
        f"a maxim, the *violator* breaks it and only it. With {plan.rewordings} rewordings of each "
        f"question (the answers stay) there are {len(kept.wordings)} lines, with {pairs} ordered "
        f"pairs of the names {', '.join(plan.names)} {len(kept.wordings) * pairs} items."
    )
    head = ("maxim", "rule", "the violator", "templates", "dialogues", "items")
    return ["## What it is", lead, _table(head, rows, left=3)]


def _how(facts: Facts) -> list[str]:
    build = facts.build
    made: Counter[tuple[str, str, str]] = Counter()
    for line in build.wordings:
        what = "rewordings" if line.wording != ORIGINAL else "dialogues"
        made[(what, *_who(build, line))] += 1
    for template in build.templates:
        made[("templates", *_who(build, template))] += 1
    rows = [(*key, str(count)) for key, count in sorted(made.items())]
    texts = [
        "## How it was made",
        "Base dialogues, templates with typed slots, new dialogues of each template, rewordings of "
        "each question; then checks and judgements. The whole set, before anything was left out:",
        _table(("what", "made by", "who is", "number"), rows, left=3),
    ]
    replies = reply_statuses(build)
    if replies:
        texts.append(
            "Replies of writers by what came of them; every one is in replies.jsonl with its "
            "prompt and parameters:"
        )
        statuses = [
            (writer, status, str(count))
            for writer, counts in replies.items()
            for status, count in sorted(counts.items())
        ]
        texts.append(_table(("writer", "status", "replies"), statuses, left=2))
    return texts


def _who(build: BuildFolder, line: Wording | Template) -> tuple[str, str]:
    made = build.made(line)
    if made is None:
        return "not known", "not known"
    return made.by, "a model" if made.kind == "model" else "a person"


def _judged(facts: Facts) -> list[str]:
    title = "## Who has judged it"
    if not facts.decisions:
        return [title, "**Nobody has judged the dialogues with `felicity build` yet.**"]
    states = Counter(outcome.state for outcome in facts.outcomes)
    verdicts = verdicts_of(facts.build.wordings, facts.decisions)
    listed = ", ".join(f"{count} {state}" for state, count in states.most_common())
    people = {d.annotator for d in facts.decisions if d.role == "annotator"}
    texts = [
        title,
        f"{len(people)} annotators, each blind to the others; "
        f"lines by what came of it: {listed}. Taken into the study: {facts.take}.",
    ]
    pairs = [
        (
            " and ".join(_numbered(facts, name) for name in pair.annotators),
            f"{pair.same} of {pair.lines}",
            _between(pair.same_interval),
            "–" if pair.kappa is None else f"{pair.kappa:.2f}",
            _between(pair.kappa_interval),
        )
        for pair in pair_agreements(verdicts)
    ]
    if pairs:
        texts.append(
            "The same verdict (keep or reject) on lines that both judged, its share, and Cohen's "
            "κ, with 95 % intervals (bootstrap over dialogues):"
        )
        head = ("annotators", "same verdict", "interval of the share", "κ", "interval of κ")
        texts.append(_table(head, pairs, left=1))
    joint = joint_agreement(verdicts)
    if joint is not None:
        texts.append(
            f"Krippendorff's α of {len(joint.annotators)} annotators on {joint.lines} lines: "
            f"{'–' if joint.alpha is None else f'{joint.alpha:.2f}'} ({_between(joint.interval)})."
        )
    choices = [
        (
            _numbered(facts, choice.annotator),
            f"{choice.right} of {choice.chosen}",
            f"{choice.right / choice.chosen:.2f}",
            _between(choice.interval),
        )
        for choice in blind_choices(facts.decisions)
    ]
    if choices:
        texts.append("The violator picked, before anything was said of the answers (Wilson, 95 %):")
        texts.append(_table(("annotator", "right", "share", "interval"), choices, left=1))
    return texts


def _between(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}"


def _numbered(facts: Facts, name: str) -> str:
    names = list(dict.fromkeys(decision.annotator for decision in facts.decisions))
    return f"annotator-{names.index(name) + 1}"


def _changed(facts: Facts) -> list[str]:
    edited = [outcome for outcome in facts.outcomes if outcome.changed]
    if not (edited or facts.left_out):
        return []
    texts = ["## What was changed and left out"]
    if edited:
        lines = [
            f"- {o.line.dialogue_id}/{o.line.wording}, {name}: “{before}” → “{o.line.texts[name]}”"
            for o in edited
            for name, before in (o.changed or {}).items()
        ]
        texts.append("\n".join(lines))
    if facts.left_out:
        reasons = Counter(facts.left_out.values())
        texts.append(
            "\n".join(f"- {count} dialogues left out: {r}" for r, count in reasons.items())
        )
    why = Counter(
        REASON_WORDS[reason]
        for decision in current_decisions(facts.decisions)
        if decision.kind == "reject"
        for reason in decision.reasons
    )
    if why:
        listed = ", ".join(f"{reason} ({count})" for reason, count in why.most_common())
        texts.append(f"Reasons given for rejecting: {listed}.")
    return texts


def _checked(facts: Facts) -> list[str]:
    rows = [
        (r.name, r.what, _figure(r), r.allowed, f"{len(r.flagged)} of {len(r.values)}")
        for r in facts.results
        if not r.name.startswith("cue: ")
    ]
    found = [(r, v) for r in facts.results for v in r.flagged if not r.name.startswith("cue: ")]
    texts = [
        "## Checks",
        _table(("check", "figure is", "figure", "allowed", "flagged"), rows, left=4),
    ]
    if found:
        texts.append(
            "\n".join(
                f"- {r.name}, {v.unit}{'/' + v.wording if v.wording else ''}: {v.problem}"
                for r, v in found[:SHOWN]
            )
        )
    if len(found) > SHOWN:
        texts.append(f"{len(found) - SHOWN} more are in findings.csv.")
    return texts


def _cues(facts: Facts) -> list[str]:
    results = [r for r in facts.results if r.name.startswith("cue: ")]
    maxims = [m for m in facts.kept.plan.maxims if any(r.of(m.key) is not None for r in results)]
    rows = [
        (
            r.name.removeprefix("cue: "),
            *(_share(r.of(m.key)) for m in maxims),
        )
        for r in results
    ]
    return [
        "## Shallow cues",
        "How often a blind rule picks the follower (ties count half); .50 is no cue.",
        _table(("blind rule", *(m.short for m in maxims)), rows, left=1),
    ]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _figure(result: CheckResult) -> str:
    value = result.of()
    return "" if value is None else f"{value:.2f}".removesuffix(".00")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Write a Markdown table; the first ``left`` columns are text."""
    marks = ["---" if place < left else "---:" for place in range(len(head))]
    cells = [list(head), marks, *([c.replace("|", "\\|") for c in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
