"""Who answers: models under one way of asking them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from felicity.errors import ModelError
from felicity.participants.base import Participant, Plan
from felicity.participants.embedded import embedded_model, fetch_embedded
from felicity.participants.spec import ModelSpec, parse_spec

if TYPE_CHECKING:
    from felicity.scoring.prefix import Prefix
    from felicity.types import Method

__all__ = ["Participant", "Plan", "open_participant", "parse_spec", "participant_from_model"]


def open_participant(
    spec: str,
    *,
    method: str | None = None,
    prefix: str = "auto",
    device: str = "auto",
    device_map: str | None = None,
    max_memory: Mapping[int | str, str | int] | None = None,
    dtype: str = "float32",
    trust_remote_code: bool = False,
    batch_tokens: int | None = None,
    max_connections: int | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Participant:
    """Open a model and check that its scores can be believed.

    Parameters
    ----------
    spec
        ``embedded:NAME``, or ``hf:`` with a hub id or a folder, and ``@REVISION`` if need be; a
        ``.gguf`` file loads too. ``server:http://HOST:PORT/v1#MODEL`` is a model behind a server
        that gives log-probabilities (vLLM, llama.cpp).
    method
        ``logprob``, ``pll_within_word_l2r``, ``pll_original`` or ``seq2seq``; by default what
        fits the architecture in the model's configuration.
    prefix
        For causal models: ``auto``, ``bos``, ``eos``, ``none`` or a token id. For
        encoder-decoders ``auto``, or an id that is put after the decoder's own start.
    device, dtype
        ``auto``, ``cpu``, ``cuda``, ``cuda:N``, ``mps``; ``float32``, ``bfloat16``, ``float16``.
    device_map, max_memory
        To spread a model over devices, main memory and disk (``auto``), with at most so much on
        each (``{0: "20GiB", "cpu": "60GiB"}``).
    trust_remote_code
        Run code that the model brings along. Never asked for interactively.
    batch_tokens
        Tokens in one forward pass, padding included; by default what the device's free memory
        allows.
    max_connections
        For a server: requests open at once.
    report
        Called with a line for each step that takes a while.

    Returns
    -------
    Participant
        Ready to plan and score.

    Raises
    ------
    ModelError, OptionError
        Where it cannot be opened, or its scores would be wrong.

    Examples
    --------
    >>> participant = open_participant("embedded:smollm2-135m")
    >>> participant.info.method, participant.info.prefix
    ('logprob', 'id <|endoftext|> (0)')
    """
    named = parse_spec(spec)
    parsed, label = named, named.label
    if parsed.kind == "api":
        raise ModelError(
            "a model behind an API gives no log-probabilities of given answers",
            where=spec,
            hint="it can be asked to choose: --method asked",
        )
    if parsed.kind == "server":
        from felicity.participants.server import open_server

        return open_server(
            spec,
            method=method,
            prefix=prefix,
            # What is the default for models here is nobody's wish there.
            dtype=None if dtype == "float32" else dtype,
            max_connections=max_connections,
            opened_with=opening_options(method, prefix, dtype),
            report=report,
        )
    if parsed.kind == "embedded":
        model = embedded_model(parsed.source)
        folder = fetch_embedded(model, report)
        parsed, label = ModelSpec(text=spec, kind="hf", source=str(folder)), model.label
    from felicity.participants import load
    from felicity.participants.spread import Spread

    config = load.read_config(parsed, trust_remote_code)
    chosen = load.choose_method(parsed, config, method)
    tokenizer = load.read_tokenizer(parsed, trust_remote_code)
    report(f"loading {label}")
    weights = load.read_model(
        parsed,
        chosen,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        spread=Spread(device_map=device_map, max_memory=max_memory) if device_map else None,
    )
    return participant_from_model(
        weights,
        tokenizer,
        spec=spec,
        label=label,
        method=chosen,
        prefix=prefix,
        batch_tokens=batch_tokens,
        revision=getattr(weights.config, "_commit_hash", None),
        notes=load.tokenizer_notes(parsed, tokenizer),
        opened_with=opening_options(method, prefix, dtype),
    )


def opening_options(method: str | None, prefix: str, dtype: str) -> dict[str, str]:
    """Return the options that decide what a model is asked, as they are kept with a run."""
    return {"method": method or "auto", "prefix": prefix, "dtype": dtype}


def participant_from_model(
    model: Any,
    tokenizer: Any,
    *,
    spec: str,
    method: Method,
    label: str | None = None,
    prefix: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    notes: tuple[str, ...] = (),
    opened_with: Mapping[str, str] | None = None,
) -> Participant:
    """Make a participant of a transformers model and tokenizer that are in memory already.

    The model is scored in eval mode and left in the mode that it was in. Same errors as
    `open_participant`.
    """
    from felicity.participants.causal import CausalParticipant
    from felicity.participants.fingerprint import tokenizer_fingerprint, weights_fingerprint
    from felicity.participants.limits import max_tokens
    from felicity.participants.masked import MaskedParticipant
    from felicity.participants.memory import choose_batch_tokens
    from felicity.participants.seq2seq import Seq2SeqParticipant, decoder_start
    from felicity.scoring.devices import input_device
    from felicity.scoring.prefix import choose_prefix
    from felicity.types import ParticipantInfo

    label = label or spec
    first: Prefix | None = None
    if method == "logprob":
        first = choose_prefix(tokenizer, prefix)
    elif method == "seq2seq":
        first = decoder_start(model, tokenizer, prefix)
    info = ParticipantInfo(
        spec=spec,
        label=label,
        method=method,
        architecture=type(model).__name__,
        parameters=model.num_parameters(),
        vocabulary=int(model.config.get_text_config(decoder=True).vocab_size),
        max_tokens=max_tokens(model.config),
        dtype=str(next(model.parameters()).dtype).removeprefix("torch."),
        device=str(input_device(model)),
        prefix=str(first) if first else "tokenizer's special tokens",
        weights_fingerprint=weights_fingerprint(model),
        tokenizer_fingerprint=tokenizer_fingerprint(tokenizer),
        revision=revision,
        instruct=bool(getattr(tokenizer, "chat_template", None)),
        notes=notes,
        opened_with=opened_with or {},
    )
    size = batch_tokens or choose_batch_tokens(model)
    if first is not None:
        kind = CausalParticipant if method == "logprob" else Seq2SeqParticipant
        return kind(
            model=model, tokenizer=tokenizer, info=info, prefix=first, batch_tokens=size
        ).checked()
    if tokenizer.mask_token_id is None:
        raise ModelError(
            f"{method} needs a mask token, and this tokenizer has none",
            where=label,
            hint="a causal model is asked with --method logprob",
        )
    return MaskedParticipant(
        model=model, tokenizer=tokenizer, info=info, batch_tokens=size
    ).checked()
