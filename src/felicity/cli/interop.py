"""`felicity export` and `felicity import`."""

from __future__ import annotations

from pathlib import Path

import typer

from felicity.cli.options import parse_where
from felicity.cli.output import JSON_OPTION, note, print_json
from felicity.cli.studies import StudyArgument
from felicity.errors import OptionError


def export(
    study: StudyArgument,
    kind: str = typer.Option(..., "--format", help="lm-eval, babylm, csv, hf or inspect."),
    out: Path = typer.Option(..., help="The folder to write to."),
    texts: str = typer.Option(None, help="The study's own format, which makes the texts."),
    where: list[str] = typer.Option([], help="Only items with FACTOR=LEVEL; may be repeated."),
    limit: int = typer.Option(None, min=1, help="Only so many items."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Write a study as other tools read it: lm-evaluation-harness, BabyLM, Inspect, datasets."""
    from felicity.interop.export import export_study

    files = export_study(study, kind, out, format=texts, where=parse_where(where), limit=limit)
    if as_json:
        print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        print(file)


def import_(
    file: Path = typer.Argument(..., help="CSV, TSV, XLSX, JSONL or Parquet."),
    to: Path = typer.Option(..., help="The study folder to make."),
    kind: str = typer.Option(
        "table", "--from", help="table, gricean-csv, blimp, hu-2023 or scalar-diversity."
    ),
    column: list[str] = typer.Option(
        [], help="ROLE=COLUMN: question, unit, a factor, or an answer's label; may be repeated."
    ),
    answers: str = typer.Option(None, help="Labels of the answers, first the one that should win."),
    factor: str = typer.Option(None, help="The column whose levels are compared."),
    name: str = typer.Option(None, help="The study's name; default the folder's."),
    language: str = typer.Option("en", help="ISO 639-1 code."),
    licence: str = typer.Option("unknown", help="Licence of the materials."),
    sheet: str = typer.Option(None, help="XLSX: the sheet; default the first."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make a study folder of somebody's materials, as they keep them."""
    from felicity.interop.imports import import_study

    study = import_study(
        file,
        to,
        kind=kind,
        columns=_parse_columns(column),
        answers=tuple(part.strip() for part in answers.split(",")) if answers else None,
        factor=factor,
        name=name,
        language=language,
        licence=licence,
        sheet=sheet,
    )
    told = {
        "folder": str(study.folder),
        "items": len(study.items),
        "levels": list(study.design.level_keys),
        "answers": list(study.design.answers),
    }
    if as_json:
        print_json(told)
        return
    print(study.folder)
    note(
        f"{told['items']:,} items, levels {', '.join(study.design.level_keys)}, "
        f"{len(study.design.answers)} answers; next: felicity validate {study.folder}"
    )


def import_scores(
    study: StudyArgument,
    file: Path = typer.Argument(..., help="CSV, TSV, XLSX, JSONL or Parquet."),
    out: Path = typer.Option(..., help="The run folder to make."),
    label: str = typer.Option(..., help="The model's name in tables."),
    method: str = typer.Option(
        "logprob", help="How it was scored: logprob, pll_within_word_l2r, pll_original, seq2seq."
    ),
    score: str = typer.Option(
        "log_prob_mean", help="What an answer's number is: log_prob_mean or log_prob_sum."
    ),
    unit: str = typer.Option(
        "log_prob", help="log_prob (nats), log2_prob, surprisal (nats) or surprisal_bits."
    ),
    column: list[str] = typer.Option(
        [],
        help="ROLE=COLUMN: item_id, answer_label, score, n_tokens, token, question, answer, or "
        "an answer's label; may be repeated.",
    ),
    format_name: str = typer.Option(
        None, "--format", help="The study's format that was used; default not known."
    ),
    tool: str = typer.Option(None, help="What computed them, such as 'minicons 0.3.39'."),
    revision: str = typer.Option(None, help="The model's revision."),
    sheet: str = typer.Option(None, help="XLSX: the sheet; default the first."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make a run of scores that another tool computed, to be reported beside others."""
    from felicity.interop.scores import import_scores as read_scores

    run = read_scores(
        study,
        file,
        out,
        label=label,
        method=method,
        score=score,
        unit=unit,
        columns=_parse_columns(column),
        format=format_name,
        tool=tool,
        revision=revision,
        sheet=sheet,
    )
    statuses = dict(run.responses["status"].value_counts(sort=True).iter_rows())
    given = run.manifest["given"]["scores"]
    if as_json:
        print_json({"folder": str(run.folder), "statuses": statuses, "scores": given})
        return
    print(run.folder)
    note(f"{label}: {', '.join(f'{count:,} {status}' for status, count in statuses.items())}")
    extra = "" if "log_prob_mean" in given else " --score log_prob_sum"
    note(f"the table: felicity report {run.folder}{extra}")


def _parse_columns(pairs: list[str]) -> dict[str, str]:
    parsed: dict[str, str] = {}
    for pair in pairs:
        role, equals, column = pair.partition("=")
        if not (role and equals and column):
            raise OptionError(f'got "{pair}"; expected ROLE=COLUMN', where="--column")
        if parsed.setdefault(role, column) != column:
            raise OptionError(
                f'got "{parsed[role]}" and "{column}" for {role}; expected one column',
                where="--column",
            )
    return parsed
