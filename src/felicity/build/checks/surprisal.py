"""Grammar by a language model: answers that it finds far less probable than others of their kind.

It needs a run of the exported set, such as `felicity run STUDY --model embedded:smollm2-135m`
makes. A model's surprise is no judgement of grammar; what it lists is worth reading again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from felicity.build.checks.result import CheckResult, Value
from felicity.build.folder import BuildFolder
from felicity.build.template import SLOT
from felicity.errors import RunError

# Iglewicz & Hoaglin (1993): the modified z-score beyond which a value is an outlier.
OUTLIER = 3.5
LABELS = ("follower", "violator")
# Makes the median absolute deviation an estimate of sd in normal data.
_NORMAL = 0.6745


def outliers(build: BuildFolder, run: Path) -> CheckResult:
    """List answers with outlying surprisal, in bits per character, among those of their label.

    Raises
    ------
    RunError
        Where the run is no scored run, or is of another set.
    """
    from felicity.runner import read_run

    done = read_run(run)
    texts = {(item.unit, label): item.answers[label] for item in done.study.items
             for label in LABELS}  # fmt: skip
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    columns = (*_unit(done.responses.columns), "answer_label", "status", "bits_per_character")
    for unit, label, status, bits in done.responses.select(*columns).iter_rows():
        if status == "ok":
            found[str(unit), str(label)].append(float(bits))
    values = []
    for label in LABELS:
        # An answer that was edited since is not what the model has read.
        means = {
            line: sum(bits) / len(bits)
            for line in build.originals
            if (bits := found.get((line.dialogue_id, label)))
            and _is_of(line.texts[label], texts[line.dialogue_id, label])
        }
        scores = modified_z(list(means.values()))
        for (line, bits), score in zip(means.items(), scores, strict=True):
            problem = f"{label}: {bits:.1f} bits per character" if score > OUTLIER else ""
            values.append(
                Value(maxim=line.maxim, unit=line.dialogue_id, figure=bits, problem=problem)
            )
    if not values:
        raise RunError("no dialogue of this set was run", where=str(run))
    return CheckResult(
        name="surprisal",
        what="mean bits per character of answers, by a language model",
        figure="mean",
        allowed=f"modified z at most {OUTLIER}",
        values=tuple(values),
    )


def _unit(columns: Sequence[str]) -> tuple[str, ...]:
    return ("unit",) if "unit" in columns else ("dialogue_id",)


def _is_of(text: str, shown: str) -> bool:
    """Whether a text is what was shown; one with speakers' names is taken to be."""
    return text == shown or SLOT.search(text) is not None


def modified_z(values: list[float]) -> list[float]:
    """Return how many robust standard deviations each value lies above the median.

    Examples
    --------
    >>> [round(z, 2) for z in modified_z([1.0, 2.0, 3.0, 4.0, 20.0])]
    [-1.35, -0.67, 0.0, 0.67, 11.47]
    """
    if not values:
        return []
    middle = median(values)
    spread = median(abs(value - middle) for value in values)
    if spread == 0:
        return [0.0] * len(values)
    return [_NORMAL * (value - middle) / spread for value in values]
