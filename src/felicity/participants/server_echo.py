"""Servers that echo a prompt with the log-probabilities of its tokens (vLLM and its like).

The completions endpoint is asked to write one token after the whole text and to give the text back:
``echo``, ``logprobs``, ``max_tokens`` 1.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from felicity.errors import ModelError
from felicity.participants.chat import is_same_model
from felicity.participants.server_http import RefusedError, ServerConnection
from felicity.scoring.alignment import align_pieces
from felicity.scoring.encode import Encoded, place_answer
from felicity.scoring.prefix import Prefix
from felicity.scoring.spans import Spans
from felicity.types import TextPair, TokenScores

# More than this is no text's but the server's: a document mark, and one more of another kind.
LONGEST_PREFIX = 2
# Servers write minus infinity so, since JSON has none.
LOWEST = -9999.0
# What stands for an id that is not told, while a text's tokens are counted.
NO_ID = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A text's tokens as the server gives them back, what it puts before the text included.

    ``ids`` is empty where it does not tell them.
    """

    pieces: tuple[str, ...]
    log_probs: tuple[float | None, ...]
    ids: tuple[int, ...]


class EchoWire:
    """Scores texts by one request each. Make it with `open_echo`."""

    def __init__(
        self,
        connection: ServerConnection,
        *,
        model: str,
        extras: Mapping[str, Any],
        salted: bool,
        prefix: Prefix,
    ) -> None:
        self._connection = connection
        self._model = model
        self._extras = dict(extras)
        self._salted = salted
        self.prefix = prefix
        self.slots: int | None = None

    def split(self, text: str) -> list[str]:
        """Return a text's tokens as the server writes them."""
        return list(self._echo(text).pieces)

    def score(self, pair: TextPair) -> tuple[Encoded, TokenScores]:
        """Score an answer in its context.

        Raises
        ------
        RefusedError
            Where the server will not take this text.
        ModelError
            Where its tokens do not give the text back.
        """
        text = pair.context + pair.answer
        echo = self._echo(text)
        before = len(self.prefix.ids)
        if echo.pieces[:before] != self.prefix.tokens:
            raise self._odd(text, echo.pieces, f"put {list(self.prefix.tokens)} before others")
        spans = align_pieces(text, echo.pieces[before:])
        if spans is None:
            raise self._odd(text, echo.pieces, "do not give the text back")
        count = len(spans)
        one = place_answer(
            Spans(
                ids=echo.ids[before:] or (NO_ID,) * count,
                starts=tuple(start for start, _ in spans),
                ends=tuple(end for _, end in spans),
                added=(False,) * count,
                words=(0,) * count,
            ),
            len(pair.context),
            text,
            self.prefix,
        )
        return one, TokenScores(
            token_ids=one.answer_ids if echo.ids else (),
            tokens=one.tokens,
            log_probs=tuple(self._number(x, text) for x in echo.log_probs[one.start : one.stop])
            if one.start
            else (),
            straddles=one.straddles,
        )

    def _number(self, value: float | None, text: str) -> float:
        if value is None or value > 1e-6:
            raise ModelError(
                f"a token's log-probability: got {value}; expected a number of at most 0",
                where=f"{self._connection.address}, {text[:60]!r}",
            )
        return min(value, 0.0) if value > LOWEST else float("-inf")

    def _echo(self, text: str) -> Echo:
        body = {
            "model": self._model,
            "prompt": text,
            "max_tokens": 1,
            "echo": True,
            "logprobs": 1,
            "temperature": 1.0,
            "top_p": 1.0,
            **self._extras,
        }
        if self._salted:
            # With a salt of its own no request finds another's beginnings in the prefix cache.
            body["cache_salt"] = secrets.token_hex(16)
        answer = self._connection.post("/completions", body)
        answered = answer.get("model")
        if isinstance(answered, str) and not is_same_model(self._model, answered):
            raise ModelError(
                f"got an answer of {answered}; expected {self._model}",
                where=self._connection.address,
            )
        return read_echo(answer, self._connection.address)

    def _odd(self, text: str, pieces: Sequence[str], how: str) -> ModelError:
        shown = ", ".join(map(repr, pieces[:8])) + (", …" if len(pieces) > 8 else "")
        return ModelError(
            f"the tokens that it gives back {how}: {shown}",
            where=f"{self._connection.address}, {text[:60]!r}",
            hint="its scores cannot be laid on the text, so none is used",
        )


def read_echo(answer: Mapping[str, Any], where: str) -> Echo:
    """Read the tokens of the prompt off a completion.

    Raises
    ------
    ModelError
        Where it holds no log-probabilities of the prompt.
    """
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
    pieces = logprobs.get("tokens") if isinstance(logprobs, Mapping) else None
    values = logprobs.get("token_logprobs") if isinstance(logprobs, Mapping) else None
    if not isinstance(pieces, list) or not isinstance(values, list) or len(pieces) != len(values):
        raise ModelError(
            "this server gives no log-probabilities of a prompt's tokens (echo and logprobs of "
            "/completions)",
            where=where,
            hint="vLLM does, and llama.cpp's own server is asked in another way; see "
            "docs/server.md",
        )
    usage = answer.get("usage")
    count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    if not isinstance(count, int):
        # One token was written after the text.
        count = len(pieces) - 1
    ids = choice.get("prompt_token_ids")
    known = isinstance(ids, list) and len(ids) == count <= len(pieces)
    return Echo(
        pieces=tuple(map(str, pieces[:count])),
        log_probs=tuple(None if value is None else float(value) for value in values[:count]),
        ids=tuple(map(int, ids)) if known and isinstance(ids, list) else (),
    )


def open_echo(
    connection: ServerConnection, model: str, *, vllm: bool, prefix: str, probe: str
) -> EchoWire:
    """Find out what the server puts before a text, and whether it heeds our wishes.

    Parameters
    ----------
    connection, model
        Whom to ask.
    vllm
        Whether it is vLLM, which has parameters of its own.
    prefix
        ``auto`` takes what the server puts; ``none`` asks for nothing.
    probe
        A text to try it on.

    Raises
    ------
    ModelError
        Where its tokens do not give the text back, or it puts the same mark twice.
    """
    extras: dict[str, Any] = {"return_token_ids": True, "return_tokens_as_token_ids": False}
    extras = extras if vllm else {}
    if prefix == "none":
        extras["add_special_tokens"] = False
    wire, pieces = _first_echo(connection, model, extras, probe, salted=vllm)
    for before in range(LONGEST_PREFIX + 1):
        unread = bool(pieces) and pieces[0] == "" and not before
        if not unread and align_pieces(probe, pieces[before:]) is not None:
            break
    else:
        raise wire._odd(probe, pieces, "do not give the text back")
    marks = tuple(pieces[:before])
    if len(marks) == 2 and marks[0] == marks[1]:
        raise ModelError(
            f"it puts {marks[0]!r} twice before a text",
            where=connection.address,
            hint="a tokenizer that adds it and a template that does too; mend it on the server",
        )
    if marks and prefix == "none":
        raise ModelError(
            f"got {list(marks)} before a text; expected nothing, as --prefix none asks",
            where=connection.address,
            hint="this server does not heed add_special_tokens; use --prefix auto",
        )
    ids = wire._echo(probe).ids[:before] or (NO_ID,) * before
    wire.prefix = Prefix(policy="server" if marks else "none", ids=ids, tokens=marks)
    return wire


def _first_echo(
    connection: ServerConnection, model: str, extras: dict[str, Any], probe: str, *, salted: bool
) -> tuple[EchoWire, list[str]]:
    """Ask for one text; again without a salt where an older server will have none."""
    nothing = Prefix(policy="none", ids=(), tokens=())
    wire = EchoWire(connection, model=model, extras=extras, salted=salted, prefix=nothing)
    try:
        return wire, wire.split(probe)
    except RefusedError as error:
        if not (salted and "salt" in error.message):
            raise
    wire = EchoWire(connection, model=model, extras=extras, salted=False, prefix=nothing)
    return wire, wire.split(probe)
