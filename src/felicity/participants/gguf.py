"""GGUF files as plain transformers models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from felicity.participants.quiet import quiet_transformers


def convert_gguf(file: Path, folder: Path) -> None:
    """Write the model and tokenizer of a GGUF file as a transformers folder, in float32.

    ``save_pretrained`` fails on a model read from GGUF, because its configuration still says
    that it is quantised; the model is rebuilt from a clean configuration instead.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        model: Any = AutoModelForCausalLM.from_pretrained(
            str(file.parent), gguf_file=file.name, dtype=torch.float32
        )
        values = model.config.to_dict()
        for key in ("quantization_config", "_name_or_path", "transformers_version", "dtype"):
            values.pop(key, None)
        config = type(model.config)(**values)
        clean = type(model)(config)
        clean.load_state_dict(model.state_dict())
        clean.tie_weights()
        clean.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
