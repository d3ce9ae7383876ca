"""methods.md: a paragraph on what was done, to paste into a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from felicity.report.choice.analysis import OVERALL, PICK, Analysis, ParticipantResult
from felicity.report.choice.table import names_of
from felicity.report.choice.words import join_names
from felicity.report.citations import latest_versions
from felicity.report.groups.members import Grouping
from felicity.runner import Run
from felicity.stats.accuracy import RESAMPLES

METHOD_WORDS = {
    "logprob": "log-probability of the answer given the dialogue before it",
    "pll_within_word_l2r": "pseudo-log-likelihood of the answer, each token masked together with "
    "the later tokens of its word (Kauf & Ivanova 2023)",
    "pll_original": "pseudo-log-likelihood of the answer, one token masked at a time (Salazar et "
    "al. 2020)",
    "asked": "the reply to a question that shows both answers, in both orders",
}
SCORE_WORDS = {
    "log_prob_mean": "mean log-probability per token",
    "log_prob_sum": "summed log-probability",
    "bits_per_character": "surprisal in bits per character (lower is better)",
    "pmi": "log-probability less that of the answer without the question (PMI)",
    PICK: "its reply",
}
SOFTWARE = ("felicity", "torch", "transformers", "tokenizers", "numpy", "scipy", "polars")


def methods_paragraph(analysis: Analysis, grouping: Grouping) -> str:
    """Write the methods as Markdown: items, models, scoring, statistics, versions."""
    parts = [_items(analysis)]
    told = zip(names_of(analysis), analysis.participants, strict=True)
    parts += [_participant(name, result) for name, result in told]
    parts += _formats(analysis)
    if analysis.participants:
        parts.append(_scoring(analysis))
        parts.append(_statistics(analysis))
    parts += _groups(grouping, analysis)
    parts += _versions(analysis)
    return " ".join(parts)


def _items(analysis: Analysis) -> str:
    study, design = analysis.study, analysis.study.design
    units = len({item.unit for item in study.items})
    variants = [" and ".join(group) for group in design.variants]
    answers = f"two answers, {join_names([f'the {label}' for label in design.answers])}"
    if len(design.answers) > 2:
        answers = (
            f"up to {len(design.answers)} answers, of which the {design.answers[0]} should win"
        )
    under = f", each under every {join_names(variants)}" if variants else ""
    return (
        f"We used the study {study.name} (version {study.version}; {len(study.items):,} items from "
        f"{units} dialogues{under}). An item is a question with {answers}; its "
        f"{design.factor} is one of "
        f"{join_names([level.short for level in design.levels])}."
    )


def _participant(name: str, result: ParticipantResult) -> str:
    told: Mapping[str, Any] = result.run.manifest["participant"]
    method = str(told["method"])
    facts = [str(told["spec"])]
    if told.get("revision"):
        facts.append(f"revision {told['revision']}")
    if told.get("architecture"):
        facts.append(str(told["architecture"]))
    if told.get("parameters"):
        facts.append(f"{told['parameters'] / 1e6:,.1f} M parameters")
    if told.get("weights_fingerprint"):
        facts.append(f"weights {str(told['weights_fingerprint'])[:12]}")
    given = result.run.manifest.get("given")
    if given is not None:
        return _given(name, result, given)
    overall = result.cells[OVERALL]
    asked = f"{overall.usable:,} of {overall.asked:,}"
    text = f"{name} ({'; '.join(facts)}) was measured by {METHOD_WORDS.get(method, method)}"
    if isinstance(result.run, Run):
        text += (
            f", in {told['dtype']}, dialogue format {result.run.manifest['format']['name']}, "
            f"prefix policy {told['prefix']}; {asked} items were usable"
        )
        if told.get("instruct"):
            text += "; its chat template was not applied (read as plain text)"
    else:
        text += f"; {asked} replies were usable"
    return text + "."


def _given(name: str, result: ParticipantResult, given: Mapping[str, Any]) -> str:
    """Say of scores that another tool computed what is known, and what is not."""
    told, overall = result.run.manifest["participant"], result.cells[OVERALL]
    method = METHOD_WORDS.get(str(told["method"]), str(told["method"]))
    revision = f", revision {told['revision']}" if told.get("revision") else ""
    tool = given["tool"] or "a tool that is not known"
    unknown = ["prefix", "dtype"]
    unknown += ["dialogue format"] if result.run.manifest["format"]["name"] == "unknown" else []
    unknown += [] if told.get("revision") else ["revision"]
    return (
        f"{name}{revision} was scored by {tool}, said to be by {method}; its scores were read from "
        f"the file {given['file']} (SHA-256 {given['sha256'][:12]}) and not computed by Felicity, "
        f"and {join_names(unknown)} are not known; {overall.usable:,} of {overall.asked:,} items "
        "were usable."
    )


def _formats(analysis: Analysis) -> list[str]:
    shown = {}
    for result in analysis.participants:
        told = result.run.manifest["format"]
        if "context" in told:
            written = (told["context"] + told["answer"]).replace("\n", "⏎")
            shown[str(told["name"])] = f"{told['name']} `{written}`"
    if not shown:
        return []
    return [f"Dialogue formats (⏎ is a line break): {'; '.join(shown.values())}."]


def _scoring(analysis: Analysis) -> str:
    design = analysis.study.design
    scores = dict.fromkeys(result.score for result in analysis.participants)
    ties = sum(result.cells[OVERALL].ties for result in analysis.participants)
    return (
        f"An item counts as right where the model prefers the {design.answers[0]} by "
        f"{join_names([SCORE_WORDS[score] for score in scores])}; differences within ±1e-5 are "
        f"ties and count as not won ({ties} in all). Overall accuracy is the mean over "
        f"{design.factor}s."
    )


def _statistics(analysis: Analysis) -> str:
    text = (
        f"Intervals are 95 % percentile bootstraps over dialogues ({RESAMPLES:,} draws, seed "
        f"{analysis.seed}; Wilson's where all dialogues agree); tests against chance are sign-flip "
        "permutation tests over dialogues where it is .50 (else dialogues are drawn as won or lost "
        "whole), Holm-corrected."
    )
    if analysis.people:
        listed = join_names(
            [f"{label}, {cells[OVERALL].asked} answers" for label, cells in analysis.people.items()]
        )
        text += f" People's accuracies ({listed}) have Wilson's intervals over answers."
    return text


def _groups(grouping: Grouping, analysis: Analysis) -> list[str]:
    if not grouping.groups:
        return []
    listed = "; ".join(
        f"{group.name}: {join_names([m.name for m in group.members])}" for group in grouping.groups
    )
    factor = analysis.study.design.factor
    return [
        f"Models were grouped ({listed}). Agreement on which {factor}s are hard is Kendall's W "
        "with the correction for ties; correlations are Pearson's r over the models of a group, "
        "with intervals by Fisher's z; gains between groups are paired over the items of the same "
        "architecture, with bootstrap intervals and sign-flip tests over dialogues, Holm-corrected."
    ]


def _versions(analysis: Analysis) -> list[str]:
    versions = latest_versions([result.run.manifest for result in analysis.participants])
    listed = [f"{name} {versions[name]}" for name in SOFTWARE if name in versions]
    if not listed:
        return []
    return [f"Software: Python {versions.get('python', '')}, {', '.join(listed)}."]
