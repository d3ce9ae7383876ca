"""From messages to the text that a local model reads, and where its reply ends."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from felicity.errors import ModelError
from felicity.scoring.prefix import Prefix, choose_prefix
from felicity.types import Message

if TYPE_CHECKING:
    from felicity.scoring.reading import Ids

# A model without a chat template reads turns in this form, and the name of whose turn it is.
NAMES = {"system": "System", "user": "User", "assistant": "Assistant"}
PLAIN_TURN = "{name}: {content}"
BETWEEN_TURNS = "\n\n"
PLAIN_END = f"\n{NAMES['user']}:"
# Some templates write the day's date; they get this one, so that a prompt is the same every day.
DATE = "26 Jul 2024"
# Said in place of a message to see what a template makes of it.
MARK = "Quince"
PROBE = (Message(role="user", content="Where?"), Message(role="assistant", content=MARK))
BETWEEN_SYSTEM_AND_USER = "\n\n"


@dataclass(frozen=True, kw_only=True)
class ChatText:
    """Writes messages as text, with all that a chat template does, once.

    Attributes
    ----------
    tokenizer
        A transformers tokenizer.
    template
        Whether it has a chat template; else the plain form is used.
    takes_system
        Whether the template has a place for a system message. Where it has none, the system's
        text stands in front of the first user's.
    prefix
        What stands before a plain text. A template writes its own.
    lead
        What the template writes between the cue for the assistant and its words, such as a
        reasoning that is closed and empty; in the plain form a space.
    """

    tokenizer: Any
    template: bool
    takes_system: bool
    prefix: Prefix
    lead: str

    def write(self, messages: Sequence[Message]) -> str:
        """Return the messages as text that ends where the assistant begins."""
        if self.template:
            given = messages if self.takes_system else merge_system(messages)
            return _render(self.tokenizer, given, cue=True)
        turns = [PLAIN_TURN.format(name=NAMES[m.role], content=m.content) for m in messages]
        return BETWEEN_TURNS.join([*turns, f"{NAMES['assistant']}:"])

    def encode(self, messages: Sequence[Message], begun: str = "") -> Ids:
        """Return the ids of the messages and the beginning of the assistant's words, as one text.

        A template writes its own special tokens, so that the tokenizer adds none.
        """
        text = self.write(messages) + begun
        return self.prefix.ids + tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def is_over(self, reply: str) -> bool:
        """Whether a reply in the plain form has gone on to the user's next turn."""
        return not self.template and PLAIN_END in reply

    def cut(self, reply: str) -> str:
        """Return a reply without what `is_over` has found."""
        return reply.partition(PLAIN_END)[0].rstrip() if self.is_over(reply) else reply

    @property
    def identity(self) -> dict[str, str]:
        """What of it can change a reply: the template's text and what it makes of messages."""
        if not self.template:
            form = BETWEEN_TURNS.join(
                PLAIN_TURN.format(name=name, content="…") for name in NAMES.values()
            )
            return {"chat_form": f"plain: {form}", "prefix": str(self.prefix)}
        system = Message(role="system", content="Be brief.")
        written = [str(self.tokenizer.chat_template), self.write(PROBE[:1])]
        written.append(self.write([system, PROBE[0]]))
        digest = hashlib.blake2b("\0".join(written).encode(), digest_size=16).hexdigest()
        return {"chat_form": f"template {digest}"}


def open_chat_text(tokenizer: Any, label: str) -> ChatText:
    """Find out how a tokenizer's chat template treats messages.

    Raises
    ------
    ModelError
        Where it has a template that cannot write a user's message.
    """
    if not getattr(tokenizer, "chat_template", None):
        return ChatText(
            tokenizer=tokenizer,
            template=False,
            takes_system=True,
            prefix=choose_prefix(tokenizer),
            lead=" ",
        )
    from jinja2 import TemplateError

    try:
        begun = _render(tokenizer, PROBE[:1], cue=True)
    except (TemplateError, ValueError, TypeError) as error:
        raise ModelError(
            f"its chat template cannot write a user's message: {' '.join(str(error).split())}",
            where=label,
            hint="see chat_template.jinja or chat_template in tokenizer_config.json",
        ) from error
    return ChatText(
        tokenizer=tokenizer,
        template=True,
        takes_system=_takes_system(tokenizer),
        prefix=choose_prefix(tokenizer, "none"),
        lead=_lead(tokenizer, begun),
    )


def merge_system(messages: Sequence[Message]) -> list[Message]:
    r"""Put the system's text in front of the first user's.

    Examples
    --------
    >>> merge_system([Message(role="system", content="Be brief."),
    ...               Message(role="user", content="Who?")])
    [Message(role='user', content='Be brief.\n\nWho?')]
    """
    system = [m.content for m in messages if m.role == "system"]
    merged = [m for m in messages if m.role != "system"]
    if system and merged:
        text = BETWEEN_SYSTEM_AND_USER.join([*system, merged[0].content])
        merged[0] = Message(role=merged[0].role, content=text)
    return merged


def end_ids(tokenizer: Any, generation_config: Any) -> frozenset[int]:
    """Return the tokens that end a reply.

    Those that the model's generation_config names, the tokenizer's end of sequence, and what its
    template writes after an assistant's words, where that is a special token.
    """
    named = getattr(generation_config, "eos_token_id", None)
    found = {named} if isinstance(named, int) else set(named or ())
    found.add(tokenizer.eos_token_id)
    if getattr(tokenizer, "chat_template", None):
        _, found_mark, after = _written(tokenizer, PROBE, cue=False).rpartition(MARK)
        special = set(tokenizer.all_special_ids)
        special |= {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
        for token in tokenizer(after if found_mark else "", add_special_tokens=False)["input_ids"]:
            if token in special:
                found.add(token)
                break
    return frozenset(int(token) for token in found if token is not None)


def _render(tokenizer: Any, messages: Sequence[Message], *, cue: bool) -> str:
    return str(
        tokenizer.apply_chat_template(
            [{"role": m.role, "content": m.content} for m in messages],
            tokenize=False,
            add_generation_prompt=cue,
            date_string=DATE,
        )
    )


def _written(tokenizer: Any, messages: Sequence[Message], *, cue: bool) -> str:
    """Return what a template makes of messages; nothing where it refuses them."""
    from jinja2 import TemplateError

    try:
        return _render(tokenizer, messages, cue=cue)
    except (TemplateError, ValueError, TypeError):
        return ""


def _takes_system(tokenizer: Any) -> bool:
    """Whether a template writes a system message: some refuse it, some leave it out in silence."""
    system = Message(role="system", content=MARK)
    return MARK in _written(tokenizer, (system, PROBE[0]), cue=True)


def _lead(tokenizer: Any, begun: str) -> str:
    before = _written(tokenizer, PROBE, cue=False).partition(MARK)[0]
    if before.startswith(begun):
        return before[len(begun) :]
    opened = begun.rpartition("<think>")
    # The cue opens a reasoning; closed at once, the answer is next.
    return "\n</think>\n\n" if opened[1] and "</think>" not in opened[2] else ""
