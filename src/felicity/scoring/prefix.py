"""What stands before the first token, so that it is never left unscored in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from felicity.errors import OptionError

DOCUMENT_MARKS = ("<|endoftext|>", "<|begin_of_text|>", "<s>", "<bos>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """Ids put before every text, and the policy that chose them.

    ``policy`` is ``tokenizer`` (the tokenizer adds them by itself), ``bos``, ``eos``, ``id`` or
    ``none``. A text never gets two.

    Examples
    --------
    >>> str(Prefix(policy="bos", ids=(1,), tokens=("<s>",)))
    'bos <s> (1)'
    >>> str(Prefix(policy="none", ids=(), tokens=()))
    'none'
    """

    policy: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def __str__(self) -> str:
        if not self.ids:
            return self.policy
        return f"{self.policy} {' '.join(self.tokens)} ({', '.join(map(str, self.ids))})"


def choose_prefix(tokenizer: Any, policy: str = "auto") -> Prefix:
    """Choose the prefix for a causal model.

    Parameters
    ----------
    tokenizer
        A transformers tokenizer.
    policy
        ``auto``, ``bos``, ``eos``, ``none`` or a token id in digits. ``auto`` takes what the
        tokenizer adds by itself; else the first of bos, a document mark such as
        ``<|endoftext|>``, eos, that is no marker of the chat template; else none.

    Raises
    ------
    OptionError
        Where the policy is unknown, or the tokenizer has no such token.
    """
    if policy == "none":
        return Prefix(policy="none", ids=(), tokens=())
    if policy in ("bos", "eos"):
        token_id = getattr(tokenizer, f"{policy}_token_id")
        if token_id is None:
            raise OptionError(
                f"this tokenizer has no {policy} token",
                where="--prefix",
                hint="use auto, none or a token id",
            )
        return _prefix(tokenizer, policy, token_id)
    if policy.isdecimal():
        if int(policy) >= len(tokenizer):
            raise OptionError(
                f'got "{policy}"; expected an id below {len(tokenizer)}', where="--prefix"
            )
        return _prefix(tokenizer, "id", int(policy))
    if policy != "auto":
        raise OptionError(
            f'got "{policy}"; expected one of auto, bos, eos, none, or a token id',
            where="--prefix",
        )
    leading = leading_added(tokenizer)
    if leading:
        return _prefix(tokenizer, "tokenizer", *leading)
    return _guess(tokenizer)


def leading_added(tokenizer: Any) -> tuple[int, ...]:
    """Ids that the tokenizer puts before a text by itself."""
    probe = tokenizer("a", add_special_tokens=True, return_special_tokens_mask=True)
    ids = []
    for token_id, flag in zip(probe["input_ids"], probe["special_tokens_mask"], strict=True):
        if not flag:
            break
        ids.append(int(token_id))
    return tuple(ids)


def _guess(tokenizer: Any) -> Prefix:
    template = str(getattr(tokenizer, "chat_template", None) or "")
    vocabulary = tokenizer.get_vocab()
    marks = [("id", mark) for mark in DOCUMENT_MARKS if mark in vocabulary]
    tokens = [("bos", tokenizer.bos_token), *marks, ("eos", tokenizer.eos_token)]
    for policy, token in tokens:
        if token is not None and str(token) not in template and str(token) in vocabulary:
            return _prefix(tokenizer, policy, vocabulary[str(token)])
    return Prefix(policy="none", ids=(), tokens=())


def _prefix(tokenizer: Any, policy: str, *ids: int) -> Prefix:
    return Prefix(policy=policy, ids=ids, tokens=tuple(tokenizer.convert_ids_to_tokens(list(ids))))
