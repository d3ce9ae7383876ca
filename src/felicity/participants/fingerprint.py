"""Fingerprints of weights and tokenizers: what a score depends on, as loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

# Where a model came from, what wrote it, and how it generates: nothing that changes its scores.
NO_PART_OF_THE_MODEL = frozenset(
    {
        "_name_or_path",
        "_commit_hash",
        "transformers_version",
        "architectures",
        "auto_map",
        "dtype",
        "torch_dtype",
        "use_cache",
        "quantization_config",
    }
)


def weights_fingerprint(model: Any) -> str:
    """Blake2b hash over configuration, and names, types, shapes and bytes of all weights in memory.

    It sees what was really loaded, whatever the file format, revision or adapter. The same weights
    under another configuration (another base of the rotary positions, say) are another model.
    """
    import torch

    digest = hashlib.blake2b(digest_size=16)
    config = {k: v for k, v in model.config.to_dict().items() if k not in NO_PART_OF_THE_MODEL}
    digest.update(json.dumps(config, sort_keys=True, default=str).encode())
    for name, tensor in _weights(model):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        if plain.numel():
            digest.update(memoryview(plain.view(torch.uint8).numpy()))
    return digest.hexdigest()


def _weights(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and weights, sorted; one that rests on disk is fetched for the while."""
    for name, tensor in sorted(model.state_dict().items()):
        if tensor.device.type != "meta":
            yield name, tensor
            continue
        from accelerate.utils import align_module_device

        path, _, own = name.rpartition(".")
        module = model.get_submodule(path)
        with align_module_device(module, "cpu"):
            yield name, module.state_dict()[own]


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Blake2b hash of all that decides how a text is split, with special tokens."""
    digest = hashlib.blake2b(digest_size=16)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        digest.update(backend.to_str().encode())
    else:
        digest.update(type(tokenizer).__name__.encode())
        digest.update(json.dumps(tokenizer.get_vocab(), sort_keys=True).encode())
    special = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
    digest.update(json.dumps(special, sort_keys=True).encode())
    return digest.hexdigest()
