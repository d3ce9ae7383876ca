"""Open the models that write, for `felicity build`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from felicity.cli.output import note
from felicity.participants.spec import parse_spec
from felicity.types import Sampling

if TYPE_CHECKING:
    from felicity.build.requests import Step
    from felicity.build.writers import Writer, WriterOf
    from felicity.participants.chat import ChatParticipant
    from felicity.participants.local_answer import LocalChat


def opener_of(
    *,
    writer: str,
    temperature: float,
    max_tokens: int,
    seed: int,
    max_connections: int | None,
    price_in: float | None,
    price_out: float | None,
    max_cost: float | None,
    most: Mapping[Step, int],
) -> WriterOf:
    """Return what opens a model for a step; one on this machine is loaded once.

    ``most`` says how many entries a model on this machine puts in a list at each step.
    """
    from felicity.build.writers import AskedWriter
    from felicity.rating.cost import Prices

    prices = None
    if price_in is not None or price_out is not None:
        prices = Prices(tokens_in=price_in or 0.0, tokens_out=price_out or 0.0)
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens, seed=seed)
    loaded: list[LocalChat] = []

    def open_writer(step: Step) -> Writer:
        return AskedWriter(
            _open(writer, step, most, loaded),
            sampling=sampling,
            max_connections=max_connections,
            prices=prices,
            max_cost=max_cost,
            progress=lambda done, total: note(f"{step}: {done} of {total} replies"),
        )

    return open_writer


def _open(
    spec: str, step: Step, most: Mapping[Step, int], loaded: list[LocalChat]
) -> ChatParticipant:
    from felicity.build.requests import schema_of

    if parse_spec(spec).kind == "api":
        from felicity.participants.api import open_api

        # Each step has replies of another form, to which the model is held where it can be.
        return open_api(spec, response_schema=schema_of(step))
    if not loaded:
        from felicity.participants.local_chat import open_local_chat

        loaded.append(open_local_chat(spec, report=note))
    from felicity.participants.local_form import LocalForm

    return LocalForm(chat=loaded[0], schema=schema_of(step, most[step]))
