"""What a run will cost, before it starts and while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from felicity.errors import OptionError
from felicity.types import Conversation, Message, Sampling

CHARACTERS_PER_TOKEN = 4
# Tokens of a reply that is a number alone, and of one that reasons at length before it.
SHORT_REPLY, LONG_REPLY = 2, 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices for a million tokens.

    Examples
    --------
    >>> Prices(tokens_in=0.15, tokens_out=0.60).cost(2_000_000, 500_000)
    0.6
    """

    tokens_in: float
    tokens_out: float
    currency: str = "USD"

    def __post_init__(self) -> None:
        if not (0 <= self.tokens_in < float("inf") and 0 <= self.tokens_out < float("inf")):
            raise OptionError(
                f"got {self.tokens_in}, {self.tokens_out}; expected two numbers of 0 or more",
                where="prices",
                hint="for a million tokens in and a million tokens out",
            )

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return the cost of so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run will take. Tokens are estimates, at four characters each.

    ``tokens_out`` and ``cost`` run from replies that are a number alone to replies that reason at
    length (``max_tokens`` where it is set, 600 tokens otherwise); ``tokens_in`` likewise, as later
    turns repeat earlier replies. ``samples`` are first prompts as sent, one for each prompting.
    """

    calls: int
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    cost: tuple[float, float] | None
    currency: str | None
    samples: tuple[tuple[Message, ...], ...]


def estimate(
    conversations: Sequence[Conversation],
    prices: Prices | None = None,
    *,
    sampling: Sampling = Sampling(),  # noqa: B008 - a frozen value
) -> Estimate:
    """Say what these conversations will take; nothing is sent.

    Examples
    --------
    >>> from felicity.types import Scale, Turn
    >>> one = Conversation(conversation_id="c", prompting="MIN", repeat=0, system=None,
    ...                    turns=(Turn(trial_id="t", item_id="i", text="x" * 400),),
    ...                    scale=Scale(low=1, high=7))
    >>> found = estimate([one], Prices(tokens_in=1.0, tokens_out=10.0))
    >>> found.calls, found.tokens_in, found.tokens_out, found.cost
    (1, (100, 100), (2, 600), (0.00012, 0.0061))
    """
    replies = (SHORT_REPLY, sampling.max_tokens or LONG_REPLY)
    calls = sum(len(conversation.turns) for conversation in conversations)
    low_in, high_in = (sum(_tokens_in(c, reply) for c in conversations) for reply in replies)
    low_out, high_out = (calls * reply for reply in replies)
    samples: dict[str, tuple[Message, ...]] = {}
    for conversation in conversations:
        samples.setdefault(conversation.prompting, opening(conversation))
    return Estimate(
        calls=calls,
        tokens_in=(low_in, high_in),
        tokens_out=(low_out, high_out),
        cost=(prices.cost(low_in, low_out), prices.cost(high_in, high_out)) if prices else None,
        currency=prices.currency if prices else None,
        samples=tuple(samples.values()),
    )


def opening(conversation: Conversation) -> tuple[Message, ...]:
    """Return the first request of a conversation as sent."""
    first = Message(role="user", content=conversation.turns[0].text)
    if conversation.system is None:
        return (first,)
    return (Message(role="system", content=conversation.system), first)


def guess_tokens(messages: Iterable[Message]) -> int:
    """Estimate the tokens of messages from their characters."""
    return -(-sum(len(message.content) for message in messages) // CHARACTERS_PER_TOKEN)


def _tokens_in(conversation: Conversation, reply: int) -> int:
    """Sum over turns: each sends the system text, all earlier turns and replies, and its own."""
    total, sent = 0, len(conversation.system or "")
    for number, turn in enumerate(conversation.turns):
        sent += len(turn.text)
        total += -(-sent // CHARACTERS_PER_TOKEN) + number * reply
    return total


class Budget:
    """Keeps what a run spends below a limit, over all its sittings.

    Before a request goes out its greatest likely cost is set aside: tokens in by the highest ratio
    of tokens to estimate seen so far; tokens out by ``max_tokens``, or without it by the longest
    reply seen (600 tokens at first). So the limit holds strictly where ``max_tokens`` is set.
    Where a provider does not report tokens they are estimated.
    """

    def __init__(self, prices: Prices | None, limit: float | None, max_tokens: int | None) -> None:
        if limit is not None and prices is None:
            raise OptionError(
                "a limit on cost needs prices", where="max_cost", hint="give the model's prices"
            )
        self._prices = prices or Prices(tokens_in=0, tokens_out=0)
        self._limit = limit
        self._cap = max_tokens
        self._longest = LONG_REPLY
        self._ratio = 1.0
        self._aside: list[float] = []
        self._settled = asyncio.Condition()
        self.spent = 0.0

    async def set_aside(self, guess: int) -> float | None:
        """Set the cost of one request aside; None where it would go over the limit.

        Waits while requests under way may still turn out cheaper than feared.
        """
        async with self._settled:
            while True:
                out = self._cap or self._longest
                most = self._prices.cost(guess * self._ratio, out)
                within = self.spent + sum(self._aside) + most
                if self._limit is None or within <= self._limit:
                    self._aside.append(most)
                    return most
                if not self._aside:
                    return None
                await self._settled.wait()

    async def settle(
        self, aside: float, guess: int, tokens_in: int | None, tokens_out: int | None
    ) -> None:
        """Put the true cost of a reply in the place of what was set aside for it."""
        async with self._settled:
            self._aside.remove(aside)
            self.spend(guess, tokens_in, tokens_out)
            self._settled.notify_all()

    def spend(self, guess: int, tokens_in: int | None, tokens_out: int | None) -> None:
        """Count a reply, in this sitting or an earlier one."""
        if tokens_in is not None and guess:
            self._ratio = max(self._ratio, tokens_in / guess)
        self._longest = max(self._longest, tokens_out or 0)
        self.spent += self._prices.cost(
            guess if tokens_in is None else tokens_in,
            0 if tokens_out is None else tokens_out,
        )
