"""`felicity run --method asked`: a choice study put in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from felicity.asked.prompts import asked_conversations
from felicity.asked.run import METHOD, run_asked
from felicity.participants.spec import parse_spec
from felicity.running.chat import open_aloud, prices_of, sampling_of, summary
from felicity.running.options import RunOptions
from felicity.running.progress import progress_of
from felicity.study import Study
from felicity.types import Conversation, Sampling

# The answer that is named, not one drawn: as a child is asked once.
TEMPERATURE = 0.0


def prepare(study: Study, options: RunOptions) -> Callable[[str], dict[str, Any]]:
    """Check the options; return what runs one model and sums its run up."""
    _, sampling = what_is_asked(study, options)
    prices = prices_of(options)

    def run_one(spec: str) -> dict[str, Any]:
        participant = open_aloud(spec, options, method="sampled")
        with progress_of(participant.info.label) as progress:
            done = run_asked(
                study,
                participant,
                options.place(study.name, parse_spec(spec).slug, METHOD),
                sampling=sampling,
                where=options.where,
                limit=options.limit,
                max_connections=options.max_connections,
                smoke=options.smoke,
                prices=prices,
                max_cost=options.max_cost,
                progress=progress,
            )
        return summary(done, dict(done.trials["status"].value_counts().iter_rows()))

    return run_one


def what_is_asked(study: Study, options: RunOptions) -> tuple[tuple[Conversation, ...], Sampling]:
    """Check the options; return what would be asked, and with which sampling."""
    _refuse(options)
    asked = asked_conversations(study, where=options.where, limit=options.limit)
    return asked, sampling_of(options, TEMPERATURE)


def _refuse(options: RunOptions) -> None:
    options.refuse(
        "choice",
        {
            "--format": options.format,
            "--device-map": options.device_map,
            "--prompting": options.promptings,
            "--repeats": options.repeats,
            "--presentation": options.presentation,
        },
    )
