"""A causal model on this machine that answers: by a reply in words, or by a distribution."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from felicity.errors import ModelError, OptionError
from felicity.participants.chat import ChatInfo
from felicity.participants.chat_text import ChatText
from felicity.participants.modes import evaluating
from felicity.scoring.distribution import distribution_text
from felicity.types import Message, Reply, Sampling

if TYPE_CHECKING:
    from felicity.scoring.generate import Draw
    from felicity.scoring.numbers import Numbers
    from felicity.scoring.reading import Ids, Reader

# The first words of the assistant's answer under `expected`; the number is read after them.
CUE = "Rating:"
# Tokens of a reply where none are asked for: room for several sentences of reasons.
MAX_TOKENS = 600
NO_SAMPLING = Sampling(temperature=None, top_p=None, max_tokens=None, seed=None)


@dataclass(frozen=True, kw_only=True)
class LocalChat:
    """A causal model that rates. Make it with `felicity.participants.local_chat.open_local_chat`.

    ``numbers`` are those of the scale under ``expected``, else None.
    """

    model: Any
    chat: ChatText
    reader: Reader
    info: ChatInfo
    limit: int | None
    end_ids: frozenset[int]
    numbers: Numbers | None

    @property
    def max_connections(self) -> int:
        """One model answers one question at a time."""
        return 1

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Answer one request.

        Raises
        ------
        ModelError
            Where the prompt is longer than what the model can read.
        OptionError
            For a sampling parameter that is not allowed, or, under ``expected``, a question that
            comes after others in one conversation.
        """
        # The work does not wait for anything: without this an interrupt would not be seen.
        await asyncio.sleep(0)
        started = time.perf_counter()
        with evaluating(self.model):
            if self.numbers is not None:
                return self._distribution(messages, self.numbers, started)
            return self._reply(messages, sampling, started)

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    def _distribution(self, messages: Sequence[Message], numbers: Numbers, started: float) -> Reply:
        from felicity.scoring.numbers import number_log_probs

        if any(message.role == "assistant" for message in messages):
            raise OptionError(
                "expected says nothing in words that a later question could follow",
                where="presentation",
                hint="ask each question by itself (single), or use --method sampled",
            )
        text = self.chat.encode(messages, self.chat.lead + CUE)
        self.room(text, needed=max(map(len, numbers.paths)))
        log_probs = number_log_probs(self.reader, text, numbers)
        return Reply(
            text=distribution_text(log_probs),
            reasoning=None,
            finish="stop",
            model_id=None,
            effective=NO_SAMPLING,
            tokens_in=len(text),
            tokens_out=0,
            seconds=time.perf_counter() - started,
        )

    def _reply(self, messages: Sequence[Message], sampling: Sampling, started: float) -> Reply:
        from felicity.scoring.generate import generate

        text = self.chat.encode(messages)
        draw, effective = choose_draw(sampling, self.room(text, needed=0))
        made = generate(
            self.reader,
            text,
            draw,
            end_ids=self.end_ids,
            ended=lambda ids: self.chat.is_over(self.decode(ids)),
        )
        return Reply(
            text=self.chat.cut(self.decode(made.ids)),
            reasoning=None,
            finish=made.finish,
            model_id=None,
            effective=effective,
            tokens_in=len(text),
            tokens_out=made.sampled,
            seconds=time.perf_counter() - started,
        )

    def decode(self, ids: Ids) -> str:
        """Return the text of sampled tokens."""
        return str(
            self.chat.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def room(self, text: Ids, *, needed: int) -> int | None:
        """Return how many tokens may follow a text; None where the model names no limit."""
        if self.limit is None:
            return None
        if len(text) + needed > self.limit:
            raise ModelError(
                f"a prompt has {len(text)} tokens, {needed} more are read after it, and "
                f"the model's limit is {self.limit}",
                where=self.info.label,
                hint="nothing is cut off; take a model that reads more, or shorter prompts",
            )
        # The last token that is sampled is not read.
        return self.limit - len(text) + 1


def choose_draw(sampling: Sampling, room: int | None) -> tuple[Draw, Sampling]:
    """Return how tokens are chosen, and the sampling parameters that this really uses.

    Parameters
    ----------
    sampling
        As asked for. Without a temperature, or with 0, the most probable token is taken, and
        top_p and seed have no part in it. Without a seed a fresh one is used, and named.
    room
        Tokens that fit into the model after the prompt, or None.

    Raises
    ------
    OptionError
        For a value that is not allowed.

    Examples
    --------
    >>> choose_draw(Sampling(temperature=0, seed=3), room=20)[1]
    Sampling(temperature=0.0, top_p=None, max_tokens=20, seed=None)
    """
    from felicity.scoring.generate import Draw

    temperature = float(sampling.temperature or 0)
    top_p = sampling.top_p
    most = MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens
    for name, got, allowed, right in (
        ("temperature", temperature, "0 or more", 0 <= temperature < math.inf),
        ("top_p", top_p, "above 0, at most 1", top_p is None or 0 < top_p <= 1),
        ("max_tokens", most, "1 or more", most >= 1),
    ):
        if not right:
            raise OptionError(f"got {got}; expected {allowed}", where=name)
    most = most if room is None else min(most, room)
    if temperature == 0:
        draw = Draw(temperature=0.0, top_p=None, seed=0, max_tokens=most)
        return draw, Sampling(temperature=0.0, max_tokens=most)
    seed = secrets.randbits(31) if sampling.seed is None else sampling.seed
    return (
        Draw(temperature=temperature, top_p=top_p, seed=seed, max_tokens=most),
        Sampling(temperature=temperature, top_p=top_p, max_tokens=most, seed=seed),
    )
