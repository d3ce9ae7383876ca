"""`felicity run` of a choice study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from felicity.errors import FelicityError
from felicity.participants import opening_options, parse_spec
from felicity.participants.memory import is_out_of_memory
from felicity.runner import Run, find_finished, run
from felicity.running.kept import Kept
from felicity.running.options import RunOptions
from felicity.running.progress import progress_of
from felicity.running.voice import note
from felicity.study import Study


def prepare(study: Study, options: RunOptions, kept: Kept) -> Callable[[str], dict[str, Any]]:
    """Check the options; return what runs one model and sums its run up.

    A model that is ``kept`` from the run before is not loaded again.
    """
    options.refuse(
        "choice",
        {
            "--prompting": options.promptings,
            "--repeats": options.repeats,
            "--presentation": options.presentation,
            "--temperature": options.temperature,
            "--max-tokens": options.max_tokens,
            "--max-cost": options.max_cost,
        },
    )
    fmt = study.format(options.format)
    items = study.select(options.where, options.limit)
    if options.threads is not None and kept.cluster is None:
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
        participant = kept.get(spec, options)
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
        if options.dtype != "float32" and options.dtype_sample:
            # Two models need not fit beside each other.
            del participant
            kept.let_go()
            _compare(spec, options, done, kept)
        return _summary(done)

    return run_one


def _compare(spec: str, options: RunOptions, done: Run, kept: Kept) -> None:
    """Say how many choices are others in float32; a run is good without it."""
    # With scipy behind it, which a run has no other use for.
    from felicity.precision import compare_with_float32, in_words

    try:
        found = compare_with_float32(
            done, kept.get_in_float32(spec, options), sample=options.dtype_sample
        )
    except (FelicityError, RuntimeError) as error:
        if not isinstance(error, FelicityError) and not is_out_of_memory(error):
            raise
        note(f"not compared with float32: {error}")
        return
    finally:
        kept.let_go()
    note(f"{options.dtype}: {in_words(asdict(found))}")


def _summary(done: Run) -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "complete": done.complete,
        "responses": done.responses.height,
        "asked": done.asked,
        "statuses": dict(done.responses["status"].value_counts().iter_rows()),
    }
