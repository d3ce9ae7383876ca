"""A model on this machine that fills in a form: JSON of a given schema, whatever it can do.

The form's own characters are written for it, and it says what stands between the quotes. So even
a model that knows no JSON gives a reply that can be read; whether it makes sense is another matter.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from felicity.errors import OptionError
from felicity.participants.chat import ChatInfo
from felicity.participants.local_answer import LocalChat, choose_draw
from felicity.participants.modes import evaluating
from felicity.types import Message, Reply, Sampling

if TYPE_CHECKING:
    from felicity.scoring.generate import Draw
    from felicity.scoring.reading import Ids

# Longest text of a field. A model that knows no end would write on for ever.
FIELD_TOKENS = 40
# What ends a field, beside the model's own ends.
_ENDS = ('"', "\n")


@dataclass(frozen=True, kw_only=True)
class LocalForm:
    """A local chat model whose replies have the form of a JSON schema.

    Attributes
    ----------
    chat
        A local participant of method ``sampled``.
    schema
        Objects, arrays with ``maxItems`` (so many are filled in) and strings.
    """

    chat: LocalChat
    schema: Mapping[str, Any]

    @property
    def info(self) -> ChatInfo:
        """The model's, with the form as part of what can change a reply."""
        own = {"form": hashlib.blake2b(_dump(self.schema).encode(), digest_size=8).hexdigest()}
        known = self.chat.info
        return replace(known, identity={**known.identity, "form": "json"}, details={
            **known.details, **own})  # fmt: skip

    @property
    def max_connections(self) -> int:
        """One model answers one question at a time."""
        return self.chat.max_connections

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Fill in the form for one request; errors are those of `LocalChat.ask`."""
        await asyncio.sleep(0)
        started = time.perf_counter()
        prompt = self.chat.chat.encode(messages)
        draw, effective = choose_draw(sampling, self.chat.room(prompt, needed=0))
        with evaluating(self.chat.model):
            filling = _Filling(self.chat, messages, prompt, draw)
            whole = filling.fill(self.schema)
        return Reply(
            text=filling.text,
            reasoning=None,
            finish="stop" if whole else "length",
            model_id=None,
            effective=effective,
            tokens_in=len(prompt),
            tokens_out=filling.sampled,
            seconds=time.perf_counter() - started,
        )


class _Filling:
    """One form while it is filled in; ``text`` is what is written so far."""

    def __init__(
        self, chat: LocalChat, messages: Sequence[Message], prompt: Ids, draw: Draw
    ) -> None:
        import torch

        self._chat = chat
        self._messages = messages
        self._prompt = prompt
        self._draw = draw
        self._random = torch.Generator("cpu").manual_seed(draw.seed)
        self.text = ""
        self.sampled = 0

    def fill(self, schema: Mapping[str, Any]) -> bool:
        """Write a value of the schema; False where the tokens did not suffice."""
        return all(self._parts(schema))

    def _parts(self, schema: Mapping[str, Any]) -> Iterator[bool]:
        kind = schema.get("type")
        if kind == "string":
            yield self._string()
        elif kind == "object":
            for number, (name, inner) in enumerate(schema["properties"].items()):
                self.text += ("{" if number == 0 else ", ") + f"{json.dumps(name)}: "
                yield from self._parts(inner)
            self.text += "}"
        elif kind == "array":
            for number in range(int(schema["maxItems"])):
                self.text += "[" if number == 0 else ", "
                yield from self._parts(schema["items"])
            self.text += "]"
        else:
            raise OptionError(
                f"got {kind}; expected object, array with maxItems, or string", where="schema"
            )

    def _string(self) -> bool:
        from felicity.scoring.generate import choose_token

        self.text += '"'
        start = self._chat.chat.encode(self._messages, self.chat_lead + self.text)
        ids: Ids = ()
        while self.sampled < self._draw.max_tokens and len(ids) < FIELD_TOKENS:
            if self._chat.limit is not None and len(start) + len(ids) > self._chat.limit:
                # The form's own characters have used up what the model can read.
                return False
            log_probs = self._after((*start, *ids)).clone()
            while True:
                token = choose_token(log_probs, self._draw, self._random)
                piece = self._said((*ids, token))
                ends = token in self._chat.end_ids or any(mark in piece for mark in _ENDS)
                if not ends or _before_end(piece).strip():
                    break
                # A field that ends before it has begun: the next choice instead.
                log_probs[token] = float("-inf")
            self.sampled += 1
            if ends:
                self.text += _inside(_before_end(piece))
                return True
            ids = (*ids, token)
        # Cut off: the field is closed where the limit was the field's own.
        self.text += _inside(self._said(ids))
        return self.sampled < self._draw.max_tokens

    @property
    def chat_lead(self) -> str:
        """What the chat template writes before an assistant's words."""
        return self._chat.chat.lead

    def _after(self, whole: Ids) -> Any:
        """Return the log-probabilities after a text; what of it was read already is not read anew.

        The prompt is read once: what follows is given as its continuation where their tokens allow.
        """
        reader, prompt = self._chat.reader, self._prompt
        if whole[: len(prompt)] != prompt or len(whole) == len(prompt):
            return reader.read(whole)
        reader.read(prompt)
        return reader.follow(whole[len(prompt) :])

    def _said(self, ids: Ids) -> str:
        return self._chat.decode(ids)


def _before_end(piece: str) -> str:
    """Return what stands before the first mark that ends a field."""
    places = [place for mark in _ENDS if (place := piece.find(mark)) >= 0]
    return piece[: min(places)] if places else piece


def _inside(text: str) -> str:
    """Return a text as it stands in a JSON string, with its closing quote."""
    return json.dumps(text.strip(), ensure_ascii=False)[1:]


def _dump(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True)
