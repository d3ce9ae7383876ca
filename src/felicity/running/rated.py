"""`felicity run` of a rating study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from felicity.errors import OptionError, one_of
from felicity.manifest import describe_study
from felicity.participants.spec import parse_spec
from felicity.rating.parsers import parser_of
from felicity.rating.prompts import conversations
from felicity.rating.run import run_ratings
from felicity.rating.study import RatingStudy
from felicity.running.chat import open_aloud, prices_of, sampling_of, summary
from felicity.running.options import RunOptions
from felicity.running.progress import progress_of
from felicity.types import Conversation, Sampling

METHODS = ("sampled", "expected")


def prepare(study: RatingStudy, options: RunOptions) -> Callable[[str], dict[str, Any]]:
    """Check the options; return what runs one model and sums its run up."""
    method = _check(study, options)
    asked, sampling = what_is_asked(study, options)
    prices = prices_of(options)
    manifest = {
        **describe_study(study),
        "presentation": options.presentation or study.presentation,
        "order": options.order,
        "seed": options.seed,
    }

    def run_one(spec: str) -> dict[str, Any]:
        participant = open_aloud(spec, options, method=method, scale=study.scale)
        place = options.place(study.name, parse_spec(spec).slug, method)
        with progress_of(participant.info.label) as progress:
            done = run_ratings(
                asked,
                participant,
                place,
                sampling=sampling,
                manifest=manifest,
                parser=parser_of(method),
                max_connections=options.max_connections,
                smoke=options.smoke,
                prices=prices,
                max_cost=options.max_cost,
                progress=progress,
            )
        return summary(done, dict(done.responses["status"].value_counts().iter_rows()))

    return run_one


def what_is_asked(
    study: RatingStudy, options: RunOptions
) -> tuple[tuple[Conversation, ...], Sampling]:
    """Check the options; return what would be asked, and with which sampling."""
    _check(study, options)
    return _conversations(study, options), _sampling(study, options)


def _check(study: RatingStudy, options: RunOptions) -> str:
    """Return the method; refuse what means nothing under it."""
    options.refuse("rating", {"--format": options.format, "--device-map": options.device_map})
    method = options.method or METHODS[0]
    if method not in METHODS:
        raise OptionError(f'got "{method}"; expected {one_of(METHODS)}', where="--method")
    if method == "sampled":
        return method
    options.refuse(
        "rating (expected)",
        {"--temperature": options.temperature, "--max-tokens": options.max_tokens},
    )
    if (options.presentation or study.presentation) == "block":
        raise OptionError(
            "got block; expected single, with --method expected",
            where="--presentation",
            hint="there are no words for a later question to follow",
        )
    return method


def _sampling(study: RatingStudy, options: RunOptions) -> Sampling:
    # A distribution is read, not sampled.
    if options.method == "expected":
        return Sampling(temperature=None)
    return sampling_of(options, study.temperature)


def _conversations(study: RatingStudy, options: RunOptions) -> tuple[Conversation, ...]:
    repeats = options.repeats
    if repeats is None and options.method == "expected":
        # The distribution over the scale is the same each time.
        repeats = 1
    return conversations(
        study,
        promptings=options.promptings,
        repeats=repeats,
        presentation=options.presentation,
        order=options.order,
        seed=options.seed,
        where=options.where,
        limit=options.limit,
    )
