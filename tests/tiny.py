"""Tiny models with weights that depend on a seed and nothing else, and tokenizers of each kind.

The weights come from numpy's frozen RandomState, so that the reference numbers in tests/reference
can be made with other versions of torch and transformers.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import torch

TOKENIZERS = Path(__file__).parent / "fixtures" / "tokenizers"
SPECIALS = {
    "bytelevel": {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"},
    "roberta": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
        "unk_token": "<unk>",
    },
    "wordpiece": {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "mask_token": "[MASK]",
        "unk_token": "[UNK]",
    },
    "metaspace": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    "unigram": {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"},
}


def tokenizer(kind: str, **special: str):
    """A fast tokenizer as of GPT-2, RoBERTa, BERT, Llama 2 (metaspace) or T5 (unigram)."""
    from transformers import PreTrainedTokenizerFast

    file = TOKENIZERS / f"{kind}.json"
    return PreTrainedTokenizerFast(tokenizer_file=str(file), **{**SPECIALS[kind], **special})


def fill(model, seed: int = 0, scale: float = 0.3):
    """Give a model weights that depend on seed and name alone; norms and output biases stay."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            is_output_bias = weight.dim() == 1 and len(weight) == model.config.vocab_size
            if weight.dim() > 1 or ("bias" in name and not is_output_bias):
                random = np.random.RandomState(zlib.crc32(name.encode()) + seed)
                values = random.normal(0, scale, tuple(weight.shape)).astype(np.float32)
                weight.copy_(torch.from_numpy(values))
    model.tie_weights()
    return model.eval()


def gpt2(vocab: int, seed: int = 0, n_positions: int = 128, **options):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=vocab, n_positions=n_positions, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=0, eos_token_id=0, resid_pdrop=0.1, **options,
    )  # fmt: skip
    return fill(GPT2LMHeadModel(config), seed)


def llama(vocab: int, seed: int = 0, **options):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=vocab, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=128, **options,
    )  # fmt: skip
    return fill(LlamaForCausalLM(config), seed)


def mistral(vocab: int, seed: int = 0, window: int = 8):
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=vocab, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=128,
        sliding_window=window,
    )  # fmt: skip
    return fill(MistralForCausalLM(config), seed)


def gpt_neo(vocab: int, seed: int = 0, window: int = 8):
    """Every second layer sees a window only, which its configuration calls window_size."""
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    config = GPTNeoConfig(
        vocab_size=vocab, hidden_size=32, num_layers=2, num_heads=2, intermediate_size=64,
        attention_types=[[["global", "local"], 1]], window_size=window,
        max_position_embeddings=128, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return fill(GPTNeoForCausalLM(config), seed)


def gpt_neox(vocab: int, seed: int = 0, **options):
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config = GPTNeoXConfig(
        vocab_size=vocab, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128, **options,
    )  # fmt: skip
    return fill(GPTNeoXForCausalLM(config), seed)


def mpt(vocab: int, seed: int = 0):
    from transformers import MptConfig, MptForCausalLM

    config = MptConfig(
        vocab_size=vocab, d_model=32, n_layers=2, n_heads=2, expansion_ratio=2, max_seq_len=128
    )
    return fill(MptForCausalLM(config), seed)


def bloom(vocab: int, seed: int = 0):
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=vocab, hidden_size=32, n_layer=2, n_head=2)
    return fill(BloomForCausalLM(config), seed)


def mamba(vocab: int, seed: int = 0):
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(vocab_size=vocab, hidden_size=32, num_hidden_layers=2, state_size=4)
    torch.manual_seed(seed)
    return MambaForCausalLM(config).eval()


def opt(vocab: int, seed: int = 0):
    from transformers import OPTConfig, OPTForCausalLM

    config = OPTConfig(
        vocab_size=vocab, hidden_size=32, num_hidden_layers=2, ffn_dim=64,
        num_attention_heads=2, max_position_embeddings=128, word_embed_proj_dim=32,
    )  # fmt: skip
    return fill(OPTForCausalLM(config), seed)


def bert(vocab: int, seed: int = 0, is_decoder: bool = False):
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocab, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128,
    )  # fmt: skip
    return fill(BertForMaskedLM(config), seed)


def roberta(vocab: int, seed: int = 0, max_position_embeddings: int = 130):
    from transformers import RobertaConfig, RobertaForMaskedLM

    config = RobertaConfig(
        vocab_size=vocab, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=max_position_embeddings,
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    return fill(RobertaForMaskedLM(config), seed)


def electra(vocab: int, seed: int = 0):
    from transformers import ElectraConfig, ElectraForMaskedLM

    config = ElectraConfig(
        vocab_size=vocab, hidden_size=32, embedding_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=64, max_position_embeddings=128,
    )  # fmt: skip
    return fill(ElectraForMaskedLM(config), seed)


def t5(vocab: int, seed: int = 0, **options):
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=vocab, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, **options,
    )  # fmt: skip
    return fill(T5ForConditionalGeneration(config), seed)


def bart(vocab: int, seed: int = 0, **options):
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(
        vocab_size=vocab, d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=64,
        decoder_ffn_dim=64, encoder_attention_heads=2, decoder_attention_heads=2,
        max_position_embeddings=128, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        decoder_start_token_id=2, forced_eos_token_id=2, **options,
    )  # fmt: skip
    return fill(BartForConditionalGeneration(config), seed)


def mt5(vocab: int, seed: int = 0):
    """Gated layers and a head of its own, unlike `t5`."""
    from transformers import MT5Config, MT5ForConditionalGeneration

    config = MT5Config(
        vocab_size=vocab, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, tie_word_embeddings=False,
    )  # fmt: skip
    # T5 does not scale its attention: larger weights make of float32's noise more than 1e-5.
    return fill(MT5ForConditionalGeneration(config), seed, scale=0.15)


def deberta(vocab: int, seed: int = 0):
    from transformers import DebertaConfig, DebertaForMaskedLM

    config = DebertaConfig(
        vocab_size=vocab, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128, relative_attention=True,
        pos_att_type=["c2p", "p2c"], type_vocab_size=0,
    )  # fmt: skip
    return fill(DebertaForMaskedLM(config), seed)


def deberta_v2(vocab: int, seed: int = 0, **options):
    from transformers import DebertaV2Config, DebertaV2ForMaskedLM

    config = DebertaV2Config(
        vocab_size=vocab, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128, relative_attention=True,
        position_buckets=16, pos_att_type=["c2p", "p2c"], type_vocab_size=0, share_att_key=True,
        norm_rel_ebd="layer_norm", position_biased_input=False, **options,
    )  # fmt: skip
    return fill(DebertaV2ForMaskedLM(config), seed)


def own_code(folder: Path, kind: str) -> Path:
    """A folder with a model that brings its own code: kind is MaskedLM or CausalLM."""
    import json
    import shutil

    source = Path(__file__).parent / "fixtures" / "ltg_style"
    shutil.copytree(source, folder, dirs_exist_ok=True)
    split = tokenizer("wordpiece" if kind == "MaskedLM" else "bytelevel")
    split.save_pretrained(folder)
    files = "configuration_ltg_style.LtgStyleConfig", f"modeling_ltg_style.LtgStyleFor{kind}"
    config = {
        "model_type": "ltg-style",
        "architectures": [f"LtgStyleFor{kind}"],
        "auto_map": {"AutoConfig": files[0], f"AutoModelFor{kind}": files[1]},
        "vocab_size": len(split),
    }
    (folder / "config.json").write_text(json.dumps(config))
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

    loader = {"MaskedLM": AutoModelForMaskedLM, "CausalLM": AutoModelForCausalLM}[kind]
    read = AutoConfig.from_pretrained(folder, trust_remote_code=True)
    fill(loader.from_config(read, trust_remote_code=True)).save_pretrained(folder)
    return folder
