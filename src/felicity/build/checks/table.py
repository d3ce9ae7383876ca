"""Run all checks; write them as tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from felicity.build.checks import design, texts
from felicity.build.checks.pairs import PAIR_CHECKS
from felicity.build.checks.result import CheckResult, Value
from felicity.build.checks.surprisal import outliers
from felicity.build.folder import BuildFolder
from felicity.errors import FelicityError, RunError


def run_checks(build: BuildFolder, run: Path | None = None) -> list[CheckResult]:
    """Check a set.

    Parameters
    ----------
    build
        The set.
    run
        A scored run of the exported set, for the check on grammar; None leaves that out.

    Raises
    ------
    FelicityError
        Where there is nothing to check, or a package is missing.

    Examples
    --------
    >>> from felicity.build.folder import read_build
    >>> results = {result.name: result for result in run_checks(read_build("gricean-maxims"))}
    >>> results["balance of maxims"].of(), len(results["same answers"].flagged)
    (25.0, 0)
    """
    if not build.wordings:
        raise FelicityError(
            "there is no dialogue yet",
            where=str(build.folder),
            hint="`felicity build add FOLDER FILE --by NAME` adds base dialogues",
        )
    found: list[CheckResult | None] = [
        *design.balance(build),
        *(check(build) for check in PAIR_CHECKS),
        texts.vocabulary(build),
        texts.placeholders(build),
        texts.punctuation(build),
        texts.doubled_words(build),
        texts.names_in_texts(build),
        texts.names_as_words(build),
        design.patterns(build),
        design.followed(build),
        *design.cues(build),
        outliers(build, run) if run is not None else None,
    ]
    return [result for result in found if result is not None]


def problems_of(results: Sequence[CheckResult]) -> dict[str, list[tuple[CheckResult, Value]]]:
    """Return what was found of each dialogue, for whoever judges it."""
    found: dict[str, list[tuple[CheckResult, Value]]] = {}
    for result in results:
        for value in result.flagged:
            found.setdefault(value.unit, []).append((result, value))
    return found


def write_checks(
    folder: Path, results: Sequence[CheckResult], maxims: Sequence[str]
) -> tuple[Path, Path]:
    """Write checks.csv, the figures, and findings.csv, what was found; return the paths.

    Raises
    ------
    RunError
        Where they cannot be written.
    """
    figures = [
        [
            r.name,
            _number(r.of()),
            *(_number(r.of(key)) for key in maxims),
            str(len(r.flagged)),
            str(len(r.values)),
            r.what,
            r.allowed,
        ]
        for r in results
    ]
    findings = [
        [r.name, v.maxim, v.unit, v.wording, _number(v.figure), v.problem]
        for r in results
        for v in r.flagged
    ]
    tables = {
        "checks.csv": [
            ["check", "all", *maxims, "flagged", "of", "figure_is", "allowed"],
            *figures,
        ],
        "findings.csv": [["check", "maxim", "unit", "wording", "figure", "problem"], *findings],
    }
    paths = []
    for name, rows in tables.items():
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        paths.append(folder / name)
        try:
            paths[-1].write_text(text.getvalue(), encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot be written: {error.strerror}", where=str(paths[-1])) from error
    return paths[0], paths[1]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
