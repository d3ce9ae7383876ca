"""What groups, choices and margins say in words, and what to be careful about."""

from __future__ import annotations

from felicity.report.choice.analysis import OVERALL, Analysis
from felicity.report.choice.findings import ChoiceFindings
from felicity.report.choice.table import names_of, number
from felicity.report.choice.words import join_names
from felicity.report.groups.members import Group
from felicity.report.groups.tables import p_value, three

NARROWEST_N = 10


def group_words(found: ChoiceFindings, analysis: Analysis) -> list[str]:
    """Say what the statistics over groups found, a sentence each."""
    factor = analysis.study.design.factor
    said = []
    for one in found.statistics:
        w = one.concordance
        if w.w is None:
            continue
        said.append(
            f"The {w.models} models of {one.group.name} rank the {factor}s by difficulty with "
            f"Kendall's W = {three(w.w)} (χ²({w.df}) = {w.chi2:.2f}, p {_p(w.p)}; by permutation p "
            f"{_p(w.p_permutation)})."
        )
    moved = [row for row in found.gains if row.p_holm is not None and row.p_holm < 0.05]
    if found.gains:
        short = {level.key: level.short for level in analysis.study.design.levels}
        listed = [
            f"{short[r.level]} of {r.architecture} from {r.first} to {r.second}" for r in moved
        ]
        said.append(
            f"Of {len(found.gains)} gains between groups, {len(moved)} differ from 0 after Holm's "
            f"correction{': ' + join_names(listed) if listed else ''}."
        )
    return said


def _p(p: float | None) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def cautions(found: ChoiceFindings, analysis: Analysis) -> tuple[str, ...]:
    """Say what a reader should be careful about."""
    said = []
    for name, result in zip(names_of(analysis), analysis.participants, strict=True):
        overall = result.cells[OVERALL]
        who = f"{name}, format {result.run.manifest['format']['name']}"
        if overall.usable < overall.asked:
            said.append(f"{who}: {overall.asked - overall.usable} of {overall.asked} not usable.")
        if not result.run.complete:
            said.append(f"{who}: the run is not complete.")
        if any(cell.asked == 0 for cell in result.cells.values()):
            said.append(f"{who}: a part of the study; there is no overall score.")
        if overall.ties:
            said.append(f"{who}: {overall.ties} ties, counted as not won.")
        if result.run.manifest["participant"].get("instruct") and result.orders is None:
            said.append(f"{who}: has a chat template, and was read as plain text without it.")
        if given := result.run.manifest.get("given"):
            said.append(f"{who}: scores computed elsewhere, read from {given['file']}.")
        if mismatched := result.statuses.get("model_mismatch"):
            said.append(f"{who}: {mismatched} replies came from another model than was asked.")
    for model in found.choices:
        move, where = model.largest_move()
        level = {lv.key: lv.short for lv in analysis.study.design.levels}.get(where, "overall")
        if move >= 0.1:
            said.append(
                f"{model.name}: score and format alone move {level} by up to {number(move)}."
            )
    return (*said, *found.gain_remarks, *_group_cautions(found))


def _group_cautions(found: ChoiceFindings) -> list[str]:
    said = []
    for one in found.statistics:
        n = one.concordance.models
        if n < NARROWEST_N:
            said.append(f"{one.group.name}: W and correlations rest on {n} models and say little.")
    for group in found.grouping.groups:
        prints = [
            m.result.run.manifest["participant"].get("weights_fingerprint")
            for m in group.members
            if m.result is not None
        ]
        if len(set(prints)) < len(prints):
            said.append(
                f"{group.name}: one model stands in it more than once; its rows are not "
                "independent, and statistics over models count each."
            )
        missing = len(group.members) - len(group.whole(list(_levels(group))))
        if missing:
            said.append(
                f"{group.name}: {missing} participants lack a level; W and r leave them out."
            )
    return said


def _levels(group: Group) -> list[str]:
    return [key for key in group.members[0].cells if key != OVERALL] if group.members else []
