"""Chat and base models on this machine that rate: by replies in words, or by a distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from felicity.errors import ModelError, OptionError, one_of
from felicity.participants.chat import ChatInfo
from felicity.participants.chat_text import ChatText, end_ids, open_chat_text
from felicity.participants.embedded import embedded_model, fetch_embedded
from felicity.participants.local_answer import CUE, LocalChat
from felicity.participants.modes import evaluating
from felicity.participants.spec import ModelSpec, parse_spec
from felicity.types import Message, Scale, TextPair

if TYPE_CHECKING:
    from felicity.scoring.numbers import Numbers
    from felicity.scoring.reading import Reader

CHAT_METHODS = ("sampled", "expected")


def open_local_chat(
    spec: str,
    *,
    method: str = "sampled",
    scale: Scale | None = None,
    device: str = "auto",
    dtype: str = "float32",
    trust_remote_code: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> LocalChat:
    """Open a causal model on this machine as a participant of rating studies.

    Parameters
    ----------
    spec
        ``embedded:NAME``, or ``hf:`` with a hub id or a folder, and ``@REVISION`` if need be.
    method
        ``sampled``: replies in words. ``expected``: the distribution over the scale's numbers
        after "Rating:", without any sampling and without any reasoning before it.
    scale
        The study's scale; needed for ``expected``.
    device, dtype
        ``auto``, ``cpu``, ``cuda``, ``mps``; ``float32``, ``bfloat16``, ``float16``.
    trust_remote_code
        Run code that the model brings along. Never asked for interactively.
    report
        Called with a line for each step that takes a while.

    Raises
    ------
    ModelError, OptionError
        Where it cannot be opened, is no causal model, or cannot be asked under this method.

    Examples
    --------
    >>> participant = open_local_chat(
    ...     "embedded:smollm2-135m", method="expected", scale=Scale(low=1, high=7))
    >>> participant.info.identity["cue"]
    'Rating:'
    """
    from felicity.participants import load

    _check_options(method, scale)
    named = parse_spec(spec)
    parsed, label = named, named.label
    if named.kind == "server":
        raise ModelError(
            "a server: model is scored, not chatted with",
            where=spec,
            hint="for its replies use api:openai-api/NAME/MODEL, with NAME_BASE_URL and "
            "NAME_API_KEY in the environment",
        )
    if named.kind == "embedded":
        model = embedded_model(named.source)
        folder = fetch_embedded(model, report)
        parsed, label = ModelSpec(text=spec, kind="hf", source=str(folder)), model.label
    config = load.read_config(parsed, trust_remote_code)
    fitting = load.choose_method(parsed, config, None)
    if fitting != "logprob":
        kind = "an encoder-decoder" if fitting == "seq2seq" else "a masked model"
        raise ModelError(
            f"got {kind}; expected a causal model for {method}",
            where=spec,
            hint=f"{kind} takes part in choice studies, under --method {fitting}",
        )
    tokenizer = load.read_tokenizer(parsed, trust_remote_code)
    report(f"loading {label}")
    weights = load.read_model(
        parsed, "logprob", dtype=dtype, device=device, trust_remote_code=trust_remote_code
    )
    return local_chat_from_model(
        weights,
        tokenizer,
        spec=spec,
        method=method,
        scale=scale,
        label=label,
        notes=load.tokenizer_notes(parsed, tokenizer),
    )


def local_chat_from_model(
    model: Any,
    tokenizer: Any,
    *,
    spec: str,
    method: str = "sampled",
    scale: Scale | None = None,
    label: str | None = None,
    notes: tuple[str, ...] = (),
) -> LocalChat:
    """Make a participant of a causal model and its tokenizer that are in memory already.

    The model answers in eval mode and is left in the mode that it was in. Same errors as
    `open_local_chat`.
    """
    from felicity.participants.limits import max_tokens

    _check_options(method, scale)
    label = label or spec
    chat = open_chat_text(tokenizer, label)
    limit = max_tokens(model.config)
    with evaluating(model):
        reader, vocabulary = _open_reader(model, tokenizer, label, limit, method)
    numbers = None
    if method == "expected" and scale is not None:
        numbers = _find_numbers(chat, scale, vocabulary, label)
    ends = end_ids(tokenizer, getattr(model, "generation_config", None))
    info = _describe(model, chat, reader, spec=spec, label=label, method=method, notes=notes)
    if numbers is None:
        own = {"end_ids": " ".join(map(str, sorted(ends)))}
    else:
        values = list(numbers.spellings)
        own = {"cue": chat.lead + CUE, "scale": f"{values[0]} to {values[-1]}"}
    return LocalChat(
        model=model,
        chat=chat,
        reader=reader,
        info=replace(info, identity={**info.identity, **own}),
        limit=limit,
        end_ids=ends,
        numbers=numbers,
    )


def _open_reader(
    model: Any, tokenizer: Any, label: str, limit: int | None, method: str
) -> tuple[Reader, int]:
    """Return a reader that was tested, and how many log-probabilities it gives."""
    from felicity.scoring.encode import encode_pairs
    from felicity.scoring.prefix import choose_prefix
    from felicity.scoring.reading import open_reader
    from felicity.scoring.selftest import PROBES, check_causality

    answers = " ".join(probe.answer for probe in PROBES)
    probe = encode_pairs(
        tokenizer,
        [TextPair(context="Why?", answer=answers)],
        prefix=choose_prefix(tokenizer),
        max_tokens=limit,
    )[0]
    check_causality(model, probe, label)
    # Ten replies to one prompt share it whole. Prompts under `expected` share beginnings; in
    # float32 alone, where that does not show.
    shares = method == "expected" and _dtype(model) == "float32"
    reader = open_reader(model, probe.ids, shares=shares)
    return reader, len(reader.read(probe.ids))


def _find_numbers(chat: ChatText, scale: Scale, vocabulary: int, label: str) -> Numbers:
    from felicity.scoring.numbers import spell_numbers

    question = [Message(role="user", content="How is it?")]
    return spell_numbers(
        lambda text: chat.encode(question, chat.lead + CUE + text),
        chat.tokenizer,
        scale,
        vocabulary=vocabulary,
        label=label,
    )


def _dtype(model: Any) -> str:
    return str(next(model.parameters()).dtype).removeprefix("torch.")


def _check_options(method: str, scale: Scale | None) -> None:
    if method not in CHAT_METHODS:
        raise OptionError(f'got "{method}"; expected {one_of(CHAT_METHODS)}', where="--method")
    if method == "expected" and scale is None:
        raise OptionError(
            "expected needs a scale, whose numbers it looks for", where="scale",
            hint="open_local_chat(…, scale=study.scale)",
        )  # fmt: skip


def _describe(
    model: Any,
    chat: ChatText,
    reader: Reader,
    *,
    spec: str,
    label: str,
    method: str,
    notes: tuple[str, ...],
) -> ChatInfo:
    from felicity.participants.fingerprint import tokenizer_fingerprint, weights_fingerprint

    said = list(notes)
    if not chat.template:
        said.append("it has no chat template: messages are written as plain text (User: …)")
    if not chat.takes_system:
        said.append("its chat template has no system role: such text goes to the first user turn")
    if method == "expected":
        said.append(
            f'ratings are read from the distribution over numbers after "{CUE}", before any '
            "reasoning, also where the prompt asks to reason first"
        )
    return ChatInfo(
        spec=spec,
        label=label,
        method=method,
        model=None,
        identity={
            "weights": weights_fingerprint(model),
            "tokenizer": tokenizer_fingerprint(chat.tokenizer),
            **chat.identity,
        },
        details={
            "architecture": type(model).__name__,
            "parameters": str(model.num_parameters()),
            "dtype": _dtype(model),
            "device": str(next(model.parameters()).device),
            "revision": str(getattr(model.config, "_commit_hash", None) or "none named"),
            "reading": reader.way,
        },
        notes=tuple(said),
    )
