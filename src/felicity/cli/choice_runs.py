"""`felicity run` of a choice study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from felicity.cli.options import RunOptions
from felicity.cli.output import note
from felicity.cli.progress import progress_of
from felicity.participants import open_participant, opening_options, parse_spec
from felicity.runner import Run, find_finished, run
from felicity.study import Study


def prepare(study: Study, options: RunOptions) -> Callable[[str], dict[str, Any]]:
    """Check the options; return what runs one model and sums its run up."""
    options.refuse(
        "choice",
        {
            "--prompting": options.promptings,
            "--repeats": options.repeats,
            "--presentation": options.presentation,
            "--temperature": options.temperature,
            "--max-tokens": options.max_tokens,
            "--max-cost": options.max_cost,
            "--dry-run": options.dry_run,
        },
    )
    fmt = study.format(options.format)
    items = study.select(options.where, options.limit)
    if options.threads is not None:
        import torch

        torch.set_num_threads(options.threads)

    def run_one(spec: str) -> dict[str, Any]:
        method = [options.method] if options.method else []
        place = options.place(study.name, parse_spec(spec).slug, *method, fmt.name)
        opened_with = opening_options(options.method, options.prefix, options.dtype)
        finished = find_finished(study, fmt, place, spec=spec, opened_with=opened_with, items=items)
        if finished is not None:
            note(f"{spec}: {place} has it all")
            return _summary(finished)
        participant = open_participant(
            spec,
            method=options.method,
            prefix=options.prefix,
            device=options.device,
            dtype=options.dtype,
            trust_remote_code=options.trust_remote_code,
            batch_tokens=options.batch_tokens,
            max_connections=options.max_connections,
            report=note,
        )
        for warning in participant.info.notes:
            note(f"warning: {warning}")
        with progress_of(participant.info.label) as progress:
            done = run(
                study,
                participant,
                place,
                format=fmt.name,
                where=options.where,
                limit=options.limit,
                progress=progress,
            )
        return _summary(done)

    return run_one


def _summary(done: Run) -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "complete": done.complete,
        "responses": done.responses.height,
        "asked": done.asked,
        "statuses": dict(done.responses["status"].value_counts().iter_rows()),
    }
