"""Load models and tokenizers as their users load them, and refuse what would score wrongly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from felicity.errors import ModelError, OptionError, one_of
from felicity.participants.quiet import quiet_transformers
from felicity.participants.spec import ModelSpec
from felicity.participants.spread import Spread
from felicity.types import METHODS, Method

LOADERS: dict[Method, str] = {
    "logprob": "AutoModelForCausalLM",
    "pll_within_word_l2r": "AutoModelForMaskedLM",
    "pll_original": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}
DTYPES = ("float32", "bfloat16", "float16")
# The architectures whose language-model head has a name of another form.
SEQ2SEQ_NAMES = ("ForConditionalGeneration", "MTModel", "EncoderDecoderModel", "WithLMHeadModel")


def choose_device(device: str) -> str:
    """Resolve ``auto`` to cuda, mps or cpu, whichever is there first.

    Raises
    ------
    OptionError
        For a device that this machine does not have.
    """
    import torch

    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise OptionError(
            f'got "{device}": {str(error).splitlines()[0]}',
            where="--device",
            hint="use auto, cpu, cuda, cuda:N or mps",
        ) from None
    return device


def choose_dtype(name: str) -> Any:
    """Return the torch dtype of a name.

    Raises
    ------
    OptionError
        For another name.
    """
    import torch

    if name not in DTYPES:
        raise OptionError(f'got "{name}"; expected {one_of(DTYPES)}', where="--dtype")
    return getattr(torch, name)


def read_config(spec: ModelSpec, trust_remote_code: bool) -> Any:
    """Read a model's configuration."""
    from transformers import AutoConfig

    return _call(spec, AutoConfig.from_pretrained, trust_remote_code)


def read_tokenizer(spec: ModelSpec, trust_remote_code: bool) -> Any:
    """Read a model's tokenizer."""
    from transformers import AutoTokenizer

    return _call(spec, AutoTokenizer.from_pretrained, trust_remote_code)


def choose_method(spec: ModelSpec, config: Any, asked: str | None) -> Method:
    """Choose how a model is asked: from the architecture in its configuration, never its name.

    Raises
    ------
    ModelError
        Where the architecture is no language model that can be scored, or is not said.
    """
    if asked is not None:
        for method in METHODS:
            if asked == method:
                return method
        raise OptionError(f'got "{asked}"; expected {one_of(METHODS)}', where="--method")
    architectures = getattr(config, "architectures", None) or []
    name = str(architectures[0]) if architectures else _only_head(config.model_type)
    if getattr(config, "is_encoder_decoder", False) and name.endswith(SEQ2SEQ_NAMES):
        return "seq2seq"
    if name.endswith(("ForCausalLM", "LMHeadModel")):
        return "logprob"
    if name.endswith("ForMaskedLM"):
        return "pll_within_word_l2r"
    raise ModelError(
        f'architecture: got "{name or "nothing"}" ({config.model_type}); expected a causal or a '
        "masked language model, or an encoder-decoder (…ForCausalLM, …LMHeadModel, …ForMaskedLM, "
        "…ForConditionalGeneration)",
        where=spec.text,
        hint="if the weights do hold a language-model head, say which with --method logprob, "
        "--method pll_within_word_l2r or --method seq2seq",
    )


def _only_head(model_type: str) -> str:
    """Name the language-model class of a model type that has one kind only, else nothing.

    A GGUF file says its model type and no class.
    """
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    kinds = (MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES)
    names = [kind[model_type] for kind in kinds if model_type in kind]
    return str(names[0]) if len(names) == 1 else ""


def read_model(
    spec: ModelSpec,
    method: Method,
    *,
    dtype: str,
    device: str,
    trust_remote_code: bool,
    spread: Spread | None = None,
) -> Any:
    """Load the weights under the head that the method needs, in eval mode, where they are to be.

    Raises
    ------
    ModelError
        Where it cannot be loaded, or weights are missing and would be random.
    OptionError
        For a device or dtype that is not there, or a device beside ``spread``.
    """
    import transformers

    loader = getattr(transformers, LOADERS[method])
    placed = spread.options(device) if spread is not None else {}
    torch_device = choose_device(device)
    model, loading = _call(
        spec,
        loader.from_pretrained,
        trust_remote_code,
        dtype=choose_dtype(dtype),
        output_loading_info=True,
        **placed,
    )
    missing = sorted(loading.get("missing_keys", ()))
    if missing:
        shown = ", ".join(missing[:4]) + (", …" if len(missing) > 4 else "")
        raise ModelError(
            f"{len(missing)} weights are not in the files and would be random: {shown}",
            where=spec.text,
            hint=f"these files do not hold a model for {method}; try another --method",
        )
    return model.eval() if spread is not None else model.eval().to(torch_device)


def tokenizer_notes(spec: ModelSpec, tokenizer: Any) -> tuple[str, ...]:
    """Warn where the loaded tokenizer splits text otherwise than its own tokenizer.json.

    transformers 5 drops a custom pre-tokenizer when ``tokenizer_class`` names another class.
    """
    from tokenizers import Tokenizer
    from transformers.utils.hub import cached_file

    file = None
    if getattr(tokenizer, "is_fast", False) and not spec.gguf:
        file = cached_file(
            spec.source,
            "tokenizer.json",
            revision=spec.revision,
            _raise_exceptions_for_missing_entries=False,
        )
    if file is None:
        return ()
    plain = Tokenizer.from_file(str(file))
    plain.no_padding()
    plain.no_truncation()
    for text in ("It's 12:45, isn't it?", "Leslie: Why?\nJoan: I don't know...", "naïve  café 123"):
        loaded = tokenizer(text, add_special_tokens=False)["input_ids"]
        if list(loaded) != plain.encode(text, add_special_tokens=False).ids:
            return (
                f"the tokenizer as transformers loads it splits {text!r} otherwise than "
                "tokenizer.json does (see tokenizer_class in tokenizer_config.json)",
            )
    return ()


def _call(spec: ModelSpec, loader: Any, trust_remote_code: bool, **options: Any) -> Any:
    if spec.gguf:
        options["gguf_file"] = spec.gguf
    if spec.revision:
        options["revision"] = spec.revision
    try:
        with quiet_transformers():
            return loader(spec.source, trust_remote_code=trust_remote_code, **options)
    except (OSError, ValueError, AttributeError, ImportError, LookupError, RuntimeError) as error:
        raise _explain(spec, error, trust_remote_code) from error


def _explain(spec: ModelSpec, error: Exception, trust_remote_code: bool) -> ModelError:
    text = " ".join(str(error).split())
    if "trust_remote_code" in text and not trust_remote_code:
        return ModelError(
            "this model brings its own code, which is not run unless you say so",
            where=spec.text,
            hint="read that code, then add --trust-remote-code",
        )
    if isinstance(error, AttributeError) and trust_remote_code:
        return ModelError(
            f"the model's own code does not work with this version of transformers: {text}",
            where=spec.text,
            hint="often its class does not call self.post_init(), which transformers 5 needs; "
            "ask its authors, or install transformers 4 in another environment",
        )
    here = Path(spec.source)
    if here.is_dir() and not (here / "config.json").exists() and not spec.gguf:
        return ModelError(
            "got a folder without config.json; expected a transformers model",
            where=spec.text,
            hint="for a GGUF file give the file itself: hf:FOLDER/NAME.gguf",
        )
    if not here.exists() and spec.source.startswith(("/", ".", "~")):
        return ModelError(
            "no such folder",
            where=spec.text,
            hint="a path begins where the command is run; a model of the hub is hf:OWNER/NAME",
        )
    if not here.exists() and isinstance(error, OSError):
        return ModelError(
            f"neither a folder here nor a model that the hub gives: {text[:300]}",
            where=spec.text,
            hint="check the name, the revision and the network; a private model needs a login",
        )
    return ModelError(f"cannot be loaded: {type(error).__name__}: {text[:400]}", where=spec.text)
