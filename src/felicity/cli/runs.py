"""`felicity run`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from felicity.cli.options import parse_where
from felicity.cli.output import JSON_OPTION, err, note, print_json
from felicity.cli.studies import StudyArgument
from felicity.errors import FelicityError, OptionError

if TYPE_CHECKING:
    from felicity.runner import Progress, Run


def run(
    study: StudyArgument,
    model: Annotated[
        list[str],
        typer.Option(help="embedded:NAME, hf:ID[@REVISION], hf:FOLDER; may be repeated."),
    ],
    out: Path = typer.Option(Path("runs"), help="Runs go to OUT/STUDY/MODEL-FORMAT."),
    folder: Path = typer.Option(None, help="The run folder itself, for one model."),
    format_name: str = typer.Option(None, "--format", help="Dialogue format of the study."),
    method: str = typer.Option(
        None, help="logprob, pll_within_word_l2r or pll_original; default by architecture."
    ),
    prefix: str = typer.Option(
        "auto", help="What stands before the text: auto, bos, eos, none or a token id."
    ),
    device: str = typer.Option("auto", help="auto, cpu, cuda or mps."),
    dtype: str = typer.Option("float32", help="float32, bfloat16 or float16."),
    batch_tokens: int = typer.Option(1024, min=1, help="Tokens in one forward pass."),
    threads: int = typer.Option(None, min=1, help="Processor threads; default torch's."),
    trust_remote_code: bool = typer.Option(
        False, "--trust-remote-code", help="Run code that a model brings along."
    ),
    where: list[str] = typer.Option([], help="Only items with FACTOR=LEVEL; may be repeated."),
    limit: int = typer.Option(None, min=1, help="Only so many items."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run a study on models; the same command again goes on where it broke off."""
    from felicity.participants import open_participant, parse_spec
    from felicity.runner import run as run_study
    from felicity.study import load_choice_study

    if folder is not None and len(model) > 1:
        raise OptionError("got several models; expected one", where="--folder", hint="use --out")
    loaded = load_choice_study(study)
    fmt = loaded.format(format_name)
    levels = parse_where(where)
    loaded.select(levels, limit)
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    finished: list[dict[str, Any]] = []
    failed = 0
    for spec in model:
        try:
            participant = open_participant(
                spec,
                method=method,
                prefix=prefix,
                device=device,
                dtype=dtype,
                trust_remote_code=trust_remote_code,
                batch_tokens=batch_tokens,
                report=note,
            )
            for warning in participant.info.notes:
                note(f"warning: {warning}")
            name = "-".join([parse_spec(spec).slug, *([method] if method else []), fmt.name])
            place = folder or out / loaded.name / name
            with _progress(participant.info.label) as progress:
                done = run_study(
                    loaded,
                    participant,
                    place,
                    format=fmt.name,
                    where=levels,
                    limit=limit,
                    progress=progress,
                )
        except FelicityError as error:
            if len(model) == 1:
                raise
            failed += 1
            note(f"error: {error}")
            finished.append({"model": spec, "error": str(error)})
            continue
        finished.append({"model": spec, **_summary(done)})
        if not as_json:
            print(place / "responses.parquet")
    if as_json:
        print_json({"runs": finished})
    elif not failed:
        folders = " ".join(entry["folder"] for entry in finished)
        note(f"the table: felicity report {folders}")
    if failed:
        note(f"{failed} of {len(model)} models failed")
        raise typer.Exit(1)


def _summary(done: Run) -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "complete": done.complete,
        "responses": done.responses.height,
        "asked": done.asked,
        "statuses": dict(done.responses["status"].value_counts().iter_rows()),
    }


@contextmanager
def _progress(label: str) -> Iterator[Progress]:
    """Show a bar with rate and time left on a terminal, a plain line now and then elsewhere."""
    if not err.is_terminal:
        yield _PlainProgress(label)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=err) as bar:
        task = bar.add_task(label, total=None, rate="")

        def show(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed:.0f}/s" if speed else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield show


class _PlainProgress:
    """Say how far a run is, at most every ten seconds."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.start: tuple[float, int] | None = None
        self.said = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.start is None:
            self.start = (now, done)
        elif done < total and now - self.said < 10:
            return
        self.said = now
        began, had = self.start
        rate = (done - had) / (now - began) if now > began else 0.0
        left = f", {rate:.0f}/s, {(total - done) / rate:.0f} s left" if rate else ""
        note(f"{self.label}: {done} of {total}{left}")
