"""`felicity run` of a rating study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from felicity.cli.options import RunOptions
from felicity.cli.output import note, print_json
from felicity.cli.progress import progress_of
from felicity.errors import OptionError, one_of
from felicity.manifest import describe_study
from felicity.participants.spec import parse_spec
from felicity.rating.cost import Prices, estimate
from felicity.rating.parsers import parser_of
from felicity.rating.prompts import conversations
from felicity.rating.run import RatingRun, run_ratings
from felicity.rating.study import RatingStudy
from felicity.types import Conversation, Sampling

if TYPE_CHECKING:
    from felicity.participants.chat import ChatParticipant

METHODS = ("sampled", "expected")


def prepare(study: RatingStudy, options: RunOptions) -> Callable[[str], dict[str, Any]]:
    """Check the options; return what runs one model and sums its run up."""
    options.refuse("rating", {"--format": options.format})
    method = options.method or METHODS[0]
    if method not in METHODS:
        raise OptionError(f'got "{method}"; expected {one_of(METHODS)}', where="--method")
    asked = _conversations(study, options, method)
    sampling, prices = _sampling(study, options), _prices(options)
    manifest = {
        **describe_study(study),
        "presentation": options.presentation or study.presentation,
        "order": options.order,
        "seed": options.seed,
    }

    def run_one(spec: str) -> dict[str, Any]:
        participant = _open(spec, study, options, method)
        for warning in participant.info.notes:
            note(f"note: {warning}")
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
        return _summary(done)

    return run_one


def dry_run(study: RatingStudy, options: RunOptions, as_json: bool) -> None:
    """Say what would be asked and what it may cost; ask nothing."""
    asked = _conversations(study, options, options.method or METHODS[0])
    found = estimate(asked, _prices(options), sampling=_sampling(study, options))
    if as_json:
        print_json(asdict(found))
        return
    for messages in found.samples:
        for message in messages:
            print(f"[{message.role}]\n{message.content}\n")
        print("-" * 72)
    low, high = found.tokens_in
    print(f"{found.calls} calls")
    print(f"about {low if low == high else f'{low} to {high}'} tokens in (4 characters each)")
    print(f"{found.tokens_out[0]} to {found.tokens_out[1]} tokens out")
    if found.cost is None:
        note("for the cost give --price-in and --price-out, for a million tokens each")
    else:
        print(f"{found.cost[0]:.2f} to {found.cost[1]:.2f} {found.currency}")


def _conversations(
    study: RatingStudy, options: RunOptions, method: str
) -> tuple[Conversation, ...]:
    # The distribution over the scale is the same each time.
    repeats = 1 if method == "expected" and options.repeats is None else options.repeats
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


def _sampling(study: RatingStudy, options: RunOptions) -> Sampling:
    temperature = study.temperature if options.temperature is None else options.temperature
    return Sampling(temperature=temperature, max_tokens=options.max_tokens, seed=options.seed)


def _prices(options: RunOptions) -> Prices | None:
    if options.price_in is None and options.price_out is None:
        return None
    return Prices(tokens_in=options.price_in or 0.0, tokens_out=options.price_out or 0.0)


def _open(spec: str, study: RatingStudy, options: RunOptions, method: str) -> ChatParticipant:
    if parse_spec(spec).kind == "api":
        if method != "sampled":
            raise OptionError(
                f'got "{method}" for {spec}; expected sampled',
                where="--method",
                hint="expected needs the model itself: embedded:… or hf:…",
            )
        from felicity.participants.api import open_api

        return open_api(spec)
    from felicity.participants.local_chat import open_local_chat

    if options.threads is not None:
        import torch

        torch.set_num_threads(options.threads)
    return open_local_chat(
        spec,
        method=method,
        scale=study.scale,
        device=options.device,
        dtype=options.dtype,
        trust_remote_code=options.trust_remote_code,
        report=note,
    )


def _summary(done: RatingRun) -> dict[str, Any]:
    for text in done.manifest["sampling_notes"]:
        note(f"note: {text}")
    if done.stopped is not None:
        note(f"stopped before the end: {done.stopped}")
    return {
        "folder": str(done.folder),
        "complete": done.complete,
        "responses": done.responses.height,
        "asked": done.asked,
        "stopped": done.stopped,
        "statuses": dict(done.responses["status"].value_counts().iter_rows()),
    }
