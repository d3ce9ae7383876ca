"""What `felicity run` needs wherever a model replies in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from felicity.participants.opening import open_chat
from felicity.participants.spec import parse_spec
from felicity.rating.cost import Prices
from felicity.running.options import RunOptions
from felicity.running.voice import note
from felicity.types import Sampling, Scale

if TYPE_CHECKING:
    from felicity.asked.run import AskedRun
    from felicity.participants.chat import ChatParticipant
    from felicity.rating.run import RatingRun


def open_aloud(
    spec: str, options: RunOptions, *, method: str, scale: Scale | None = None
) -> ChatParticipant:
    """Open a model behind an API or on this machine; say what is to be noted of it."""
    if options.threads is not None and parse_spec(spec).kind != "api":
        import torch

        torch.set_num_threads(options.threads)
    participant = open_chat(
        spec,
        method=method,
        scale=scale,
        device=options.device,
        dtype=options.dtype,
        trust_remote_code=options.trust_remote_code,
        report=note,
    )
    for text in participant.info.notes:
        note(f"note: {text}")
    return participant


def sampling_of(options: RunOptions, temperature: float | None) -> Sampling:
    """Return the sampling that was asked for; ``temperature`` is the default."""
    chosen = temperature if options.temperature is None else options.temperature
    return Sampling(temperature=chosen, max_tokens=options.max_tokens, seed=options.seed)


def prices_of(options: RunOptions) -> Prices | None:
    """Return the prices, or None where none was given."""
    if options.price_in is None and options.price_out is None:
        return None
    return Prices(tokens_in=options.price_in or 0.0, tokens_out=options.price_out or 0.0)


def summary(done: RatingRun | AskedRun, statuses: dict[str, int]) -> dict[str, Any]:
    """Sum a run up; say on standard error what is to be noted of it."""
    for text in done.manifest["sampling_notes"]:
        note(f"note: {text}")
    if done.stopped is not None:
        note(f"stopped before the end: {done.stopped}")
    return {
        "folder": str(done.folder),
        "complete": done.complete,
        "responses": sum(statuses.values()),
        "asked": done.asked,
        "stopped": done.stopped,
        "statuses": statuses,
    }
