"""Write a study in the format of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from felicity.errors import OptionError, one_of
from felicity.interop.babylm import babylm_files
from felicity.interop.inspect_task import asked_files, rating_conversations, sampled_files
from felicity.interop.lm_eval import lm_eval_files
from felicity.interop.tables import csv_files, hf_files
from felicity.interop.texts import render_items, write_files
from felicity.rating.study import RatingStudy
from felicity.study import Study, load_study

EXPORTS = ("lm-eval", "babylm", "csv", "hf", "inspect")


def export_study(
    study: Study | RatingStudy | str,
    kind: str,
    out: Path | str,
    *,
    format: str | None = None,  # noqa: A002 - the study's own word
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> tuple[Path, ...]:
    """Write a study as other tools read it.

    Parameters
    ----------
    study
        A study, its built-in name, or its folder. Rating studies go to ``inspect`` only.
    kind
        ``lm-eval`` (tasks of lm-evaluation-harness), ``babylm`` (the EWoK shape of the BabyLM
        pipeline), ``csv``, ``hf`` (a folder for Hugging Face datasets), ``inspect`` (an Inspect
        task).
    out
        The folder; files that are there already are not written over.
    format
        The study's own format, which makes the texts; its default where not given.
    where, limit
        Only items with these factor levels; only so many.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    OptionError
        For an unknown kind, or texts that the other tool cannot hold.
    RunError
        Where the files are there already or cannot be written.
    """
    if kind not in EXPORTS:
        raise OptionError(f'got "{kind}"; expected {one_of(EXPORTS)}', where="--format")
    loaded = load_study(study) if isinstance(study, str) else study
    if isinstance(loaded, RatingStudy):
        if kind != "inspect":
            raise OptionError(f'got "{kind}" of a rating study; expected inspect', where="--format")
        chosen = rating_conversations(loaded, limit)
        return write_files(Path(out), sampled_files(loaded, chosen))
    items = loaded.select(where or {}, limit)
    if kind == "inspect":
        return write_files(Path(out), asked_files(loaded, items))
    fmt = loaded.format(format)
    rendered = render_items(fmt, items)
    files = {
        "lm-eval": lambda: lm_eval_files(loaded, fmt, rendered),
        "babylm": lambda: babylm_files(loaded, fmt, rendered),
        "csv": lambda: csv_files(loaded, rendered),
        "hf": lambda: hf_files(loaded, fmt, rendered),
    }
    return write_files(Path(out), files[kind]())
