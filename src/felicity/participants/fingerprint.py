"""Fingerprints of weights and tokenizers: what a score depends on, as loaded."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def weights_fingerprint(model: Any) -> str:
    """Blake2b hash over names, types, shapes and bytes of all weights, as they lie in memory.

    It sees what was really loaded, whatever the file format, revision or adapter.
    """
    import torch

    digest = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        if plain.numel():
            digest.update(memoryview(plain.view(torch.uint8).numpy()))
    return digest.hexdigest()


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
