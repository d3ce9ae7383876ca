"""Read scores that another tool computed: a row for each answer, each item, or each token."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from felicity.errors import FaultsError, OptionError, one_of
from felicity.given_scores import finish_given, write_given
from felicity.interop.read_table import read_table
from felicity.interop.score_rows import ScoreReader
from felicity.manifest import describe_format, describe_study, own_versions
from felicity.runner import Run, read_run
from felicity.study import Study, load_choice_study
from felicity.types import METHODS

# What one number of the table is, for all tokens of an answer.
GIVEN_AS = ("log_prob_mean", "log_prob_sum")
UNITS = {
    "log_prob": 1.0,
    "log2_prob": math.log(2),
    "surprisal": -1.0,
    "surprisal_bits": -math.log(2),
}


def import_scores(
    study: Study | str | Path,
    file: Path | str,
    out: Path | str,
    *,
    label: str,
    method: str = "logprob",
    score: str = "log_prob_mean",
    unit: str = "log_prob",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - the study's own word
    tool: str | None = None,
    revision: str | None = None,
    sheet: str | None = None,
) -> Run:
    r"""Make a run of scores that another tool computed, to stand in reports beside others.

    Parameters
    ----------
    study
        A choice study, its built-in name, or its folder.
    file
        CSV, TSV, XLSX, JSONL or Parquet with a row for each answer (``item_id``,
        ``answer_label``, ``score``, perhaps ``n_tokens``), for each item (``item_id`` and a column
        for each answer's label), or for each token (``item_id``, ``answer_label``, ``token``,
        ``score``, in order). Without ``item_id`` an item is found by its texts and factors.
    out
        The run folder to make.
    label
        The model's name in tables.
    method
        How it was scored: ``logprob``, ``pll_within_word_l2r``, ``pll_original``, ``seq2seq``.
    score
        What the number of an answer is: ``log_prob_mean`` per token, or ``log_prob_sum``.
    unit
        ``log_prob`` (nats), ``log2_prob``, ``surprisal`` (nats) or ``surprisal_bits``.
    columns
        Role to column, where columns are not called by their roles.
    format
        The study's format by which texts were written; not known where not given.
    tool, revision
        What computed the scores, and the model's revision: for the methods paragraph.
    sheet
        Of a spreadsheet: which.

    Returns
    -------
    Run
        With a row for every answer of the study; what has no score has status ``not_given``.

    Raises
    ------
    FaultsError
        With every row that cannot be used; nothing is written then.
    OptionError, RunError
        For an unknown option or column; where the folder holds something else.

    Examples
    --------
    >>> import tempfile
    >>> study = load_choice_study("gricean-maxims")
    >>> first = study.items[0].item_id
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "scores.csv"
    ...     _ = table.write_text(f"item_id,follower,violator\n{first},-2.5,-3.0\n")
    ...     run = import_scores(study, table, Path(folder) / "run", label="GPT-2")
    >>> run.responses["log_prob_mean"].to_list()[:2], run.responses["status"].to_list()[1:3]
    ([-2.5, -3.0], ['ok', 'not_given'])
    """
    loaded = study if isinstance(study, Study) else load_choice_study(study)
    for name, value, allowed in (
        ("--method", method, METHODS),
        ("--score", score, GIVEN_AS),
        ("--unit", unit, tuple(UNITS)),
    ):
        if value not in allowed:
            raise OptionError(f'got "{value}"; expected {one_of(allowed)}', where=name)
    path = Path(file)
    rows = read_table(path, sheet=sheet)
    reader = ScoreReader(loaded, path.name, columns or {}, UNITS[unit])
    found = reader.read(rows, score)
    if reader.faults:
        raise FaultsError(reader.faults, where=str(path), hint="nothing was written")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    fmt = None if format is None else describe_format(loaded.format(format))
    manifest = _manifest(
        loaded, path.name, digest, label, method, fmt, tool, revision, reader.gives
    )
    folder = Path(out)
    write_given(folder, manifest, found)
    run = read_run(folder, loaded)
    finish_given(folder, run.responses)
    return run


def _manifest(
    study: Study,
    name: str,
    digest: str,
    label: str,
    method: str,
    fmt: Mapping[str, str] | None,
    tool: str | None,
    revision: str | None,
    gives: tuple[str, ...],
) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "felicity_run": 1,
        "paradigm": "choice",
        **describe_study(study),
        # What was scored is the answer; what stood before it is not known.
        "format": fmt or {"name": "unknown", "answer": "{answer}"},
        "given": {"file": name, "sha256": digest, "tool": tool, "scores": list(gives)},
        "participant": {
            "spec": label,
            "label": label,
            "method": method,
            "architecture": None,
            "parameters": None,
            "dtype": "unknown",
            "device": "unknown",
            "prefix": "unknown",
            "revision": revision,
            # Not of weights, but as good for telling two models apart.
            "weights_fingerprint": f"file:{digest}",
            "tokenizer_fingerprint": None,
            "instruct": False,
            "notes": [],
        },
        "seed": None,
        "asked": sum(len(item.answers) for item in study.items),
        "sessions": [{"started": now, "versions": own_versions()}],
    }
