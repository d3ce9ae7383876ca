"""methods.md of a rating study: a paragraph on what was done, to paste into a paper."""

from __future__ import annotations

from typing import Any

from felicity.report.choice.words import join_names
from felicity.report.citations import latest_versions
from felicity.report.rating.analysis import RatingAnalysis
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.rating.table import names_of

METHOD_WORDS = {
    "sampled": "replies in words",
    "expected": "the mean of the scale under the distribution over the next token, without any"
    " reasoning before it",
    "replay": "replies that others had collected; what was sent and how is not known",
}
SOFTWARE = ("felicity", "inspect_ai", "torch", "transformers", "numpy", "scipy", "polars")


def rating_methods(analysis: RatingDescription) -> str:
    """Write the methods as Markdown: items, participants, reading, measures, versions."""
    parts = [_items(analysis), *_participants(analysis), _reading(analysis)]
    if isinstance(analysis, RatingAnalysis):
        parts += [_measures(analysis), _intervals(analysis)]
    else:
        parts.append("Ratings were not compared with people's.")
    return " ".join([*parts, *_versions(analysis)])


def _items(analysis: RatingDescription) -> str:
    study, scale = analysis.study, analysis.study.scale
    own = {k: v for k, v in study.factors.items() if k not in ("scenario", "attribute")}
    crossed = [f"{len(study.scenarios)} scenarios"]
    crossed += [f"{len(levels)} levels of {name} ({join_names(list(levels))})"
                for name, levels in own.items()]  # fmt: skip
    return (
        f"We used the study {study.name} (version {study.version}; {len(study.items):,} questions:"
        f" {', '.join(crossed)}, {len(study.attributes)} attributes). Each question asks for a"
        f" rating from {scale.low} ({scale.low_label}) to {scale.high} ({scale.high_label})."
    )


def _participants(analysis: RatingDescription) -> list[str]:
    """One sentence for each run, whatever promptings it has."""
    parts: dict[str, tuple[RatingReplies, list[str]]] = {}
    for name, result in zip(names_of(analysis), analysis.results, strict=True):
        used = f"{result.prompting} ({result.usable:,} of {result.asked:,} usable)"
        parts.setdefault(name, (result, []))[1].append(used)
    return [
        f"{name} ({'; '.join(_facts(result))}) was given the prompting"
        f"{'s' if len(used) > 1 else ''} {join_names(used)}."
        for name, (result, used) in parts.items()
    ]


def _facts(result: RatingReplies) -> list[str]:
    told: dict[str, Any] = result.run.manifest["participant"]
    details = told.get("details", {})
    facts = [str(told["spec"])]
    if details.get("revision", "none named") != "none named":
        facts.append(f"revision {details['revision']}")
    facts += [str(details[key]) for key in ("architecture", "dtype") if details.get(key)]
    if told.get("identity", {}).get("weights"):
        facts.append(f"weights {str(told['identity']['weights'])[:12]}")
    method = str(told["method"])
    facts.append(METHOD_WORDS.get(method, method))
    facts += _sampling(result)
    repeats = result.responses["repeat"].n_unique()
    facts.append(f"{repeats} repeat{'s' if repeats > 1 else ''} of each question")
    return facts


def _sampling(result: RatingReplies) -> list[str]:
    """Say what was really sent, as far as it is known."""
    columns = {"temperature_effective": "temperature", "top_p_effective": "top p"}
    found = []
    for column, word in columns.items():
        values = result.responses[column].drop_nulls().unique().sort().to_list()
        if values:
            found.append(f"{word} {join_names([f'{value:g}' for value in values])}")
    return found


def _reading(analysis: RatingDescription) -> str:
    if analysis.as_published:
        return (
            "Replies were read by the rule of the published study: one digit of the scale, and no"
            " other."
        )
    versions = {str(r.run.manifest.get("parser_version")) for r in analysis.results}
    return (
        f"Ratings were read from replies by Felicity's parser (version"
        f" {join_names(sorted(versions))}); replies without a rating kept their row and are counted"
        " as missing."
    )


def _measures(analysis: RatingAnalysis) -> str:
    cells = " × ".join(analysis.study.units[analysis.unit])
    effects = analysis.study.effects
    mains = sum(effect.kind == "main" for effect in effects)
    ccc = "with the covariance over n and variances over n − 1, as published" if (
        analysis.as_published) else "Lin's"  # fmt: skip
    return (
        f"Participants' cell means ({cells}; {analysis.weighting.replace('_', ' ')}) were compared"
        f" with people's ({analysis.study.reference_source or 'single ratings'}) by Spearman's ρ,"
        f" the concordance correlation (CCC, {ccc}) and the root mean squared error (RMSE, also"
        " against people's single ratings). Effects"
        f" ({mains} main effects, {len(effects) - mains} interactions) were compared by the"
        " effect size ratio (ESR, the participant's effect over people's) and its calibration"
        " deviation (CDS, the mean of |ESR − 1|), and in direction by the share with people's sign"
        " (DAS for main effects, ISS for interactions)."
    )


def _intervals(analysis: RatingAnalysis) -> str:
    over = sorted({each for result in analysis.results for each in result.summary.over})
    return (
        f"Intervals are 95 % percentile bootstraps over {join_names(over)}"
        f" ({analysis.n_resamples:,} draws, seed {analysis.seed}); a ratio is called unstable where"
        " the interval of people's effect holds 0."
    )


def _versions(analysis: RatingDescription) -> list[str]:
    versions = latest_versions([result.run.manifest for result in analysis.results])
    listed = [f"{name} {versions[name]}" for name in SOFTWARE if name in versions]
    if not listed:
        return []
    return [f"Software: Python {versions.get('python', '')}, {', '.join(listed)}."]
