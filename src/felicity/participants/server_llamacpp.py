"""llama.cpp's own server, which gives log-probabilities of nothing but what it writes.

So it is made to write the answer: for each token of the answer one request whose prompt is all
that stands before it, and a bias that leaves the model no choice but this token. The
log-probability that comes back is the model's own, from before the bias; `LlamaCppWire.check` tries
that out.
"""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from typing import Any

from felicity.errors import ModelError, OptionError
from felicity.participants.server_http import ServerConnection
from felicity.scoring.alignment import Piece, align_pieces
from felicity.scoring.encode import Encoded, place_answer
from felicity.scoring.prefix import DOCUMENT_MARKS, Prefix
from felicity.scoring.spans import Spans
from felicity.types import TextPair, TokenScores

# No logit comes near it.
BIAS = 1000.0
# Below it a probability is no float32; the server then writes its lowest number.
LOWEST = -9999.0
SAME = 1e-3
# More tokens than any vocabulary has.
ALL = 1_000_000


class LlamaCppWire:
    """Scores texts token by token. Make it with `open_llamacpp`."""

    def __init__(self, connection: ServerConnection, *, prefix: Prefix, slots: int) -> None:
        self._connection = connection
        self.prefix = prefix
        self.slots: int | None = slots
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for slot in range(slots):
            self._free.put(slot)
        # Any token that is a whole text.
        self._letter = tokenize(connection, "a")[-1][0]

    def split(self, text: str) -> list[str]:
        """Return a text's tokens as the server writes them."""
        return [str(piece) for _, piece in tokenize(self._connection, text)]

    def score(self, pair: TextPair) -> tuple[Encoded, TokenScores]:
        """Score an answer in its context.

        Raises
        ------
        RefusedError
            Where the server will not take this text.
        ModelError
            Where its tokens do not give the text back, or it does not write what it is told.
        """
        text = pair.context + pair.answer
        tokens = tokenize(self._connection, text)
        spans = align_pieces(text, [piece for _, piece in tokens])
        if spans is None:
            raise ModelError(
                f"its tokens do not give the text back: {[piece for _, piece in tokens][:8]}",
                where=f"{self._connection.address}, {text[:60]!r}",
            )
        one = place_answer(
            Spans(
                ids=tuple(number for number, _ in tokens),
                starts=tuple(start for start, _ in spans),
                ends=tuple(end for _, end in spans),
                added=(False,) * len(spans),
                words=(0,) * len(spans),
            ),
            len(pair.context),
            text,
            self.prefix,
        )
        log_probs = self._write(one.ids, one.start) if one.start else ()
        return one, TokenScores(
            token_ids=one.answer_ids,
            tokens=one.tokens,
            log_probs=log_probs,
            straddles=one.straddles,
        )

    def check(self, context: str) -> None:
        """Try out that a forced token comes with the model's own log-probability.

        Raises
        ------
        ModelError
            Where it does not.
        """
        ids = (*self.prefix.ids, *(number for number, _ in tokenize(self._connection, context)))
        free = self._ask(ids, {"n_probs": 2, "logit_bias": [[self._letter, BIAS]]})
        if free is None:
            raise ModelError(
                "got no log-probability of the token that it wrote",
                where=self._connection.address,
                hint="llama.cpp's server gives them since December 2024",
            )
        for told in free["top_logprobs"]:
            forced = self._force(ids, int(told["id"]), slot=0, reuse=False)
            if abs(forced - float(told["logprob"])) > SAME:
                raise ModelError(
                    f"a token that it is made to write comes with {forced:.4f} nats; expected "
                    f"{float(told['logprob']):.4f}, as where it is not",
                    where=self._connection.address,
                    hint="this version of llama.cpp's server cannot be scored with",
                )

    def _write(self, ids: tuple[int, ...], start: int) -> tuple[float, ...]:
        slot = self._free.get()
        try:
            # What this answer's own tokens left in the slot may be used again, nothing else.
            return tuple(
                self._force(ids[:place], ids[place], slot=slot, reuse=place > start)
                for place in range(start, len(ids))
            )
        finally:
            self._free.put(slot)

    def _force(self, before: Sequence[int], token: int, *, slot: int, reuse: bool) -> float:
        how = {"cache_prompt": reuse, "id_slot": slot}
        told = self._ask(before, {**how, "logit_bias": [[token, BIAS]], "n_probs": 1})
        if told is None:
            # A part of a character is written when the whole is, and with it what is said of it.
            told = self._look_up(before, token, how)
        if told.get("id") != token:
            raise ModelError(
                f"it was made to write token {token} and has written {told.get('id')}",
                where=self._connection.address,
                hint="this version of llama.cpp's server cannot be scored with",
            )
        value = float(told["logprob"])
        return min(value, 0.0) if value > LOWEST else float("-inf")

    def _look_up(
        self, before: Sequence[int], token: int, how: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Find a token in the list of all, of which the server is made to write another."""
        whole = self._letter
        body = {**how, "logit_bias": [[whole, BIAS]], "n_probs": ALL}
        told = self._ask(before, body) or {}
        listed = told.get("top_logprobs", ())
        return next((entry for entry in listed if entry["id"] == token), {})

    def _ask(self, before: Sequence[int], more: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Have one token written; None where nothing is said of it."""
        body = {
            "prompt": list(before),
            "n_predict": 1,
            "samplers": ["temperature"],
            "temperature": 1.0,
            "cache_prompt": False,
            "post_sampling_probs": False,
            **more,
        }
        answer = self._connection.post_root("/completion", body)
        told = answer.get("completion_probabilities")
        first = told[0] if isinstance(told, list) and told else None
        return first if isinstance(first, Mapping) and "logprob" in first else None


def tokenize(
    connection: ServerConnection, text: str, *, add_special: bool = False
) -> list[tuple[int, Piece]]:
    """Return a text's tokens, each with its text, or its bytes where these are no text."""
    body = {"content": text, "add_special": add_special, "with_pieces": True}
    tokens = connection.post_root("/tokenize", body)["tokens"]
    return [
        (
            int(token["id"]),
            bytes(token["piece"]) if isinstance(token["piece"], list) else str(token["piece"]),
        )
        for token in tokens
    ]


def open_llamacpp(connection: ServerConnection, *, prefix: str, most: int) -> LlamaCppWire:
    """Choose what stands before a text, as for a model on this machine.

    Parameters
    ----------
    connection
        The server.
    prefix
        ``auto``, ``bos``, ``eos``, ``none`` or a token id.
    most
        How many of the server's slots are used at once, at most.
    """
    props = connection.get_root("/props")
    slots = max(1, min(most, int(props.get("total_slots") or 1)))
    return LlamaCppWire(connection, prefix=_choose_prefix(connection, props, prefix), slots=slots)


def _choose_prefix(connection: ServerConnection, props: Mapping[str, Any], policy: str) -> Prefix:
    nothing = Prefix(policy="none", ids=(), tokens=())
    if policy == "none":
        return nothing
    if policy.isdecimal():
        return Prefix(policy="id", ids=(int(policy),), tokens=(f"id {policy}",))
    if policy in ("bos", "eos"):
        found = _one_token(connection, props.get(f"{policy}_token"))
        if found is None:
            raise OptionError(
                f"this model has no {policy} token",
                where="--prefix",
                hint="use auto, none or an id",
            )
        return Prefix(policy=policy, ids=(found,), tokens=(str(props[f"{policy}_token"]),))
    if policy != "auto":
        raise OptionError(
            f'got "{policy}"; expected one of auto, bos, eos, none, or a token id',
            where="--prefix",
        )
    bare = tokenize(connection, "a")
    added = tokenize(connection, "a", add_special=True)
    marks = added[: len(added) - len(bare)]
    if marks and added[len(marks) :] == bare:
        return Prefix(
            policy="tokenizer",
            ids=tuple(number for number, _ in marks),
            tokens=tuple(str(piece) for _, piece in marks),
        )
    template = str(props.get("chat_template") or "")
    named = [("bos", props.get("bos_token")), *(("id", mark) for mark in DOCUMENT_MARKS)]
    for kind, mark in [*named, ("eos", props.get("eos_token"))]:
        found = _one_token(connection, mark) if mark and mark not in template else None
        if found is not None:
            return Prefix(policy=kind, ids=(found,), tokens=(str(mark),))
    return nothing


def _one_token(connection: ServerConnection, mark: Any) -> int | None:
    """Return the id of a text that is one token, such as a special one."""
    tokens = tokenize(connection, str(mark)) if mark else []
    return tokens[0][0] if len(tokens) == 1 else None
