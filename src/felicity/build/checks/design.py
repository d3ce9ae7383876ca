"""Checks of the set as a whole: its balance, its templates, what a blind rule makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from felicity.build.checks.result import CheckResult, Value, at, check
from felicity.build.folder import BuildFolder
from felicity.build.template import SLOT
from felicity.build.wording import ORIGINAL, TEXTS
from felicity.checks import score_cues
from felicity.stats.cues import words

# The rule of CONTRIBUTING.md: no blind rule picks the follower, or the violator, more often.
STRONGEST_CUE = 0.62
LEAST_OF_TEMPLATE = 0.2


def balance(build: BuildFolder) -> list[CheckResult]:
    """Count dialogues of maxims and templates, and rewordings of dialogues."""
    return [_of_maxims(build), _of_templates(build), _of_dialogues(build)]


def _of_maxims(build: BuildFolder) -> CheckResult:
    counts = Counter(line.maxim for line in build.originals)
    most = max(counts.values(), default=0)
    values = [
        Value(
            maxim=key,
            unit=key,
            figure=float(counts[key]),
            problem="" if counts[key] == most and most else f"{counts[key]} dialogues, not {most}",
        )
        for key in build.plan.maxim_keys
    ]
    return CheckResult(
        name="balance of maxims",
        what="dialogues of a maxim",
        figure="mean",
        allowed="the same for each",
        values=tuple(values),
    )


def _of_templates(build: BuildFolder) -> CheckResult:
    asked = build.plan.dialogues
    counts = Counter(line.template_id for line in build.originals)
    maxims = {line.template_id: line.maxim for line in build.bases}
    maxims |= {template.template_id: template.maxim for template in build.templates}
    values = [
        Value(
            maxim=maxim,
            unit=template_id,
            figure=float(counts[template_id]),
            problem=""
            if counts[template_id] == asked
            else f"{counts[template_id]} dialogues, not {asked}",
        )
        for template_id, maxim in maxims.items()
    ]
    return CheckResult(
        name="balance of templates",
        what="dialogues of a template",
        figure="mean",
        allowed=str(asked),
        values=tuple(values),
    )


def _of_dialogues(build: BuildFolder) -> CheckResult:
    asked = build.plan.rewordings
    counts = Counter(line.dialogue_id for line in build.wordings if line.wording != ORIGINAL)
    values = [
        Value(
            maxim=line.maxim,
            unit=line.dialogue_id,
            figure=float(counts[line.dialogue_id]),
            problem=""
            if counts[line.dialogue_id] == asked
            else f"{counts[line.dialogue_id]} rewordings, not {asked}",
        )
        for line in build.originals
    ]
    return CheckResult(
        name="balance of wordings",
        what="rewordings of a dialogue",
        figure="mean",
        allowed=str(asked),
        values=tuple(values),
    )


@check(
    "base and template",
    "share of templates that do not give their base dialogue word by word",
    "share",
    "word by word, or loosely",
)
def patterns(build: BuildFolder) -> Iterator[Value]:
    """Find base dialogues that cannot be made from their own template."""
    known = {template.template_id: template for template in build.templates}
    for line in build.bases:
        template = known.get(line.template_id)
        if template is None:
            problem = "no template"
        else:
            problem = "" if template.fits(line) else "the template does not give its base dialogue"
        yield Value(
            maxim=line.maxim, unit=line.template_id, figure=float(bool(problem)), problem=problem
        )


@check(
    "template followed",
    "mean share of the template's words outside slots that stand in a dialogue",
    "mean",
    f"at least {LEAST_OF_TEMPLATE}",
)
def followed(build: BuildFolder) -> Iterator[Value]:
    """How much of its template's own words, those outside slots, stands in a dialogue."""
    known = {template.template_id: template for template in build.templates}
    for line in build.originals:
        template = known.get(line.template_id)
        if template is None:
            continue
        kept = total = 0
        for name in TEXTS:
            pattern = Counter(words(SLOT.sub(" ", getattr(template, name))))
            kept += (pattern & Counter(words(line.texts[name]))).total()
            total += pattern.total()
        if total:
            problem = f"{kept} of {total} words of {line.template_id}"
            yield at(line, kept / total, problem if kept / total < LEAST_OF_TEMPLATE else "")


def cues(build: BuildFolder) -> list[CheckResult]:
    """How often a blind rule picks the follower, by maxim."""
    texts = {
        key: [tuple(line.texts.values()) for line in build.wordings if line.maxim == key]
        for key in build.plan.maxim_keys
    }
    scored = score_cues(
        {key: [(q, f, v) for q, f, v in lines] for key, lines in texts.items() if lines},
        build.plan.language.code,
    )
    return [
        CheckResult(
            name=f"cue: {rule}",
            what="how often this blind rule picks the follower (ties count half)",
            figure="mean",
            allowed=f"{1 - STRONGEST_CUE:.2f} to {STRONGEST_CUE:.2f}",
            values=tuple(
                Value(maxim=key, unit=key, figure=score.share, problem=_cue(score.share))
                for key, score in by_maxim.items()
            ),
        )
        for rule, by_maxim in scored.items()
    ]


def _cue(share: float) -> str:
    if abs(share - 0.5) <= STRONGEST_CUE - 0.5 + 1e-9:
        return ""
    picked = "follower" if share > 0.5 else "violator"
    return f"this rule alone picks the {picked} in {max(share, 1 - share):.2f}"
