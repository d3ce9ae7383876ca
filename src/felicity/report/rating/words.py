"""The tables of a rating study in words: what they say, and what to be careful about."""

from __future__ import annotations

import math

from felicity.report.choice.words import join_names
from felicity.report.rating.analysis import RatingAnalysis, RatingResult
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.rating.table import HEADINGS, figure, names_of, with_interval
from felicity.stats.missingness import Missingness

# Smaller moves vanish in three decimals.
SHOWN = 0.0005


def in_words(analysis: RatingDescription) -> list[str]:
    """Say what the tables say: a paragraph per participant and prompting, then the ceiling."""
    if not isinstance(analysis, RatingAnalysis):
        return [nothing_to_compare(analysis), *_described(analysis)]
    paragraphs = [
        _about(name, result, analysis)
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
    ]
    ceiling = analysis.ceiling
    if ceiling is not None:
        parts = [
            f"{HEADINGS[key]} {with_interval(ceiling.mean[key], ceiling.range[key])}"
            for key in ("spearman", "ccc", "rmse", "cds")
        ]
        paragraphs.append(
            f"One half of the people beside the other ({ceiling.splits} splits): {', '.join(parts)}"
            ". A half is noisier than the whole, so a participant can come out above this."
        )
    return paragraphs


def nothing_to_compare(analysis: RatingDescription) -> str:
    """Say that there is nothing to compare with, and what the study lacks for it."""
    study = analysis.study
    lacking = [word for word, there in (("human reference", study.reference),
               ("effects to compare", study.effects)) if not there]  # fmt: skip
    return f"Nothing to compare with: the study has no {' and no '.join(lacking)}."


def _described(analysis: RatingDescription) -> list[str]:
    return [
        " ".join(
            [
                f"{name}, {result.prompting}:",
                f"{result.usable} of {result.asked} replies are usable.",
                *(["Be careful:", *found] if (found := careful(result, analysis)) else []),
            ]
        )
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
    ]


def _about(name: str, result: RatingResult, analysis: RatingAnalysis) -> str:
    head = f"{name}, {result.prompting}:"
    if not result.usable:
        return f"{head} none of {result.asked} replies is usable ({_statuses(result)})."
    parts = [
        *_structure(result),
        *_magnitude(result),
        *_weighting(result, analysis),
        *(["Be careful:", *found] if (found := careful(result, analysis)) else []),
    ]
    return " ".join([head, *parts])


def _structure(result: RatingResult) -> list[str]:
    point, intervals = result.summary.point, result.summary.intervals
    shown = with_interval(float(point.spearman), intervals["spearman"])
    kinds = [
        f"{word} {figure(float(value))}"
        for word, value in (("main effects (DAS)", point.das), ("interactions (ISS)", point.iss))
        if math.isfinite(value)
    ]
    said = f"Structure: cell means go with people's at ρ = {shown}"
    return [f"{said}; share with people's sign: {join_names(kinds)}." if kinds else f"{said}."]


def _magnitude(result: RatingResult) -> list[str]:
    point, intervals = result.summary.point, result.summary.intervals
    said = [
        f"{HEADINGS[key]} {with_interval(float(getattr(point, key)), intervals[key])}"
        for key in ("ccc", "rmse", "cds_main", "cds_interaction", "cds")
    ]
    text = f"Magnitude: {', '.join(said)}."
    known = [estimate for estimate in result.summary.esr if math.isfinite(estimate.esr)]
    above = [e for e in known if e.interval and e.interval.low > 1]
    below = [e for e in known if e.interval and e.interval.high < 1]
    if known:
        text += (
            f" Of {len(known)} effects {len(above)} are stronger than people's and {len(below)}"
            f" weaker (ESR's interval beyond 1); ESR runs from {figure(min(e.esr for e in known))}"
            f" to {figure(max(e.esr for e in known))}."
        )
    return [text]


def careful(result: RatingReplies, analysis: RatingDescription) -> list[str]:
    """Say what to be careful about: what is missing, uneven, unstable, alike or not complete."""
    found = [
        *_missing(result, analysis),
        *_mismatches(result),
        *(_uneven(result) if isinstance(result, RatingResult) else []),
        *(_unstable(result, analysis) if isinstance(result, RatingResult) else []),
        *_alike(result),
        *_spread(result),
    ]
    if not result.run.complete:
        found.append("The run is not complete.")
    return found


def _missing(result: RatingReplies, analysis: RatingDescription) -> list[str]:
    lost = result.asked - result.usable
    if not lost:
        return []
    text = f"{lost} of {result.asked} replies have no usable rating ({_statuses(result)})"
    if analysis.as_published:
        text += f"; the published rule did this, while the parser reads {result.read_by_parser}"
    thin = min(result.cells, key=lambda cell: cell.usable / cell.asked if cell.asked else 1.0)
    if thin.usable < thin.asked:
        where = ", ".join(thin.factors.values())
        text += f"; the cell with fewest is {where}: {thin.usable} of {thin.asked}"
    empty = sum(cell.usable == 0 for cell in result.cells)
    if empty:
        text += f"; {empty} of {len(result.cells)} cells have none and are left out"
    return [f"{text}."]


def _spread(result: RatingReplies) -> list[str]:
    """Say how much of the distributions falls outside the scale: their means are of the rest."""
    spread = result.spread
    if spread is None:
        return []
    return [
        f"Of the model's next word {spread.outside:.2f} on average (at most "
        f"{spread.highest_outside:.2f}) is no number of the scale; means are of the rest, whose "
        f"entropy is {spread.entropy_bits:.2f} of at most {spread.highest_entropy_bits:.2f} bits."
    ]


def _mismatches(result: RatingReplies) -> list[str]:
    count = result.statuses.get("model_mismatch", 0)
    if not count:
        return []
    other = result.responses.filter(result.responses["status"] == "model_mismatch")["model_id"]
    asked = result.run.manifest["participant"]["model"]
    return [f"{count} replies came from {join_names(sorted(other.unique()))}, not from {asked}."]


def _uneven(result: RatingResult) -> list[str]:
    """Say where levels that effects compare lack differently many replies, and what that may do."""
    overall = [each for each in result.missingness if each.differs and not each.within]
    within = [each for each in result.missingness if each.differs and each.within]
    chosen = overall or within
    if not chosen:
        return []
    worst = max(chosen, key=_move)
    first, second = (f"{u} of {a}" for u, a in zip(worst.usable, worst.asked, strict=True))
    place = "".join(f", {level}" for level in worst.within.values())
    names = join_names(list(dict.fromkeys(each.attribute for each in chosen)))
    text = (
        "Replies are missing unevenly between the levels that effects compare (p < .05, Fisher)"
        f" for {names}. The most so: {worst.attribute}{place}, usable {first} and {second};"
        f" Δ is {figure(worst.difference)}"
    )
    # Unknown where a scenario's cell has no rating at all.
    if math.isfinite(worst.difference_imputed):
        text += f", {figure(worst.difference_imputed)} with missing ratings at their cell's mean"
    low, high = figure(worst.difference_low), figure(worst.difference_high)
    return [f"{text}, and between {low} and {high} whatever the missing ratings are."]


def _move(each: Missingness) -> float:
    return abs(each.usable[0] / each.asked[0] - each.usable[1] / each.asked[1])


def _weighting(result: RatingResult, analysis: RatingAnalysis) -> list[str]:
    point = result.summary.point
    other = "scenario means" if analysis.weighting == "pooled" else "pooled"
    moved = [
        f"{heading} {figure(float(getattr(point, key)))} → {figure(result.other_weighting[key])}"
        for key, heading in HEADINGS.items()
        if abs(float(getattr(point, key)) - result.other_weighting[key]) >= SHOWN
    ]
    if not moved:
        return []
    text = f"Weighted as {other} instead: {', '.join(moved)}"
    if result.largest_shift >= SHOWN:
        text += f" (its own cell means move by {figure(result.largest_shift)} at most)"
    return [f"{text}."]


def _unstable(result: RatingResult, analysis: RatingDescription) -> list[str]:
    pairs = zip(analysis.study.effects, result.summary.esr, strict=True)
    names = [effect.name for effect, estimate in pairs if estimate.unstable]
    if not names:
        return []
    return [
        f"The ratios of {join_names(names)} are unstable: the interval of people's effect holds 0."
    ]


def _alike(result: RatingReplies) -> list[str]:
    same, several = result.alike
    if not several or same < several:
        return []
    return [
        f"All {several} items have the same rating in every repeat: were replies sampled at all?"
    ]


def _statuses(result: RatingReplies) -> str:
    return ", ".join(
        f"{count} {status}" for status, count in result.statuses.items() if status != "ok"
    )
