"""Make models of the right shapes for benchmarks/scoring.py: random weights, a real tokenizer.

Speed depends on shapes alone, so that models of GPT-2 small's and RoBERTa-base's shapes stand for
them where no network is: python benchmarks/make_models.py FOLDER. The tokenizer is that of the
embedded SmolLM2, a byte-level BPE of 49,152 entries, so that texts have realistic lengths; the
embeddings are as large as the originals' (50,257 and 50,265), since the head's cost is theirs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from felicity.participants.embedded import embedded_model, fetch_embedded

GPT2, ROBERTA = "gpt2-small-shaped", "roberta-base-shaped"
ROBERTA_MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def main(place: Path) -> None:
    source = fetch_embedded(embedded_model("smollm2-135m")) / "tokenizer.json"
    torch.manual_seed(0)
    save(place / GPT2, GPT2LMHeadModel(GPT2Config()), gpt2_tokenizer(source))
    tokenizer = roberta_tokenizer(source)
    config = RobertaConfig(
        vocab_size=50265,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    save(place / ROBERTA, RobertaForMaskedLM(config), tokenizer)


def gpt2_tokenizer(source: Path) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(
        tokenizer_file=str(source), bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )


def roberta_tokenizer(source: Path) -> PreTrainedTokenizerFast:
    """Byte-level BPE with RoBERTa's marks: four before its vocabulary, the mask after it."""
    from tokenizers import Tokenizer

    whole: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    shift = len(ROBERTA_MARKS) - 1
    vocabulary = {token: number + shift for token, number in whole["model"]["vocab"].items()}
    whole["model"]["vocab"] = vocabulary
    for token in whole["added_tokens"]:
        token["id"] += shift
    ids = [*range(shift), max(vocabulary.values()) + 1]
    vocabulary.update(zip(ROBERTA_MARKS, ids, strict=True))
    whole["added_tokens"] += [
        {
            "id": number,
            "content": mark,
            "single_word": False,
            "lstrip": mark == "<mask>",
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for mark, number in zip(ROBERTA_MARKS, ids, strict=True)
    ]
    whole["post_processor"] = {
        "type": "RobertaProcessing",
        "sep": ["</s>", vocabulary["</s>"]],
        "cls": ["<s>", vocabulary["<s>"]],
        "trim_offsets": True,
        "add_prefix_space": False,
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(whole)),
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
    )


def save(folder: Path, model: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
