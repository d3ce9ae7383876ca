"""Train a small model on a small text and keep checkpoints at log-spaced numbers of words seen.

Gives `felicity` a learning curve to draw within minutes on one processor thread:

    apt-get download r-cran-janeaustenr && dpkg-deb -x r-cran-janeaustenr_*.deb austen
    python examples/train_curve.py $(find austen -name Rdata.rdb) --out checkpoints
    felicity run examples/learning-curve.toml

The text is any number of UTF-8 text files, or the data file of an R package whose data sets are
vectors of lines, as Debian ships the novels of Jane Austen (725,000 words). Needs felicity[local].
"""

from __future__ import annotations

import argparse
import re
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 2048
CONTEXT = 128
BATCH = 16
END = "<|endoftext|>"
# A string of R's serialisation: flags of an ASCII or UTF-8 string, its length, its bytes.
R_STRING = re.compile(rb"\x00[\x00\x04]\x00[\x09\x08](.{4})", re.DOTALL)


def r_strings(data: bytes) -> Iterator[str]:
    """Yield every string of an R data base: records of length and zlib stream, one per object."""
    place = 0
    while place < len(data):
        reader = zlib.decompressobj()
        record = reader.decompress(data[place + 4 :])
        place = len(data) - len(reader.unused_data)
        # The first string is the name of the encoding, without flags.
        at = record.find(b"UTF-8") + 5
        while found := R_STRING.search(record, at):
            (length,) = struct.unpack(">i", found[1])
            at = found.end() + max(length, 0)
            yield record[found.end() : at].decode()


def read_paragraphs(path: Path) -> list[str]:
    """Return a file's paragraphs, each on one line."""
    if path.suffix == ".rdb":
        text = "\n".join(r_strings(path.read_bytes()))
    else:
        text = path.read_text(encoding="utf-8")
    plain = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", plain))
    return [part.replace("_", "") for part in parts if part]


def train_tokenizer(paragraphs: list[str]) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(paragraphs, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END)


def make_model(seed: int) -> LlamaForCausalLM:
    """Make a Llama of about two million parameters."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config)


def checkpoint_name(words: int) -> str:
    """Name a checkpoint by words seen, as BabyLM's do: chck_30k, chck_1M."""
    million = f"{words / 1e6:g}M"
    return f"chck_{million if words >= 1e6 else f'{words / 1e3:g}k'}"


def train(paragraphs: list[str], marks: list[int], out: Path, seed: int) -> None:
    """Train until the last mark; save the model whenever a mark is reached."""
    tokenizer, model = train_tokenizer(paragraphs), make_model(seed)
    lines = tokenizer([f"{text}\n" for text in paragraphs], add_special_tokens=False)["input_ids"]
    stream = np.concatenate([np.asarray([0, *line]) for line in lines])
    words_per_token = sum(len(text.split()) for text in paragraphs) / len(stream)
    print(f"{len(stream)} tokens, {words_per_token:.3f} words per token")
    print(f"{model.num_parameters()} parameters")
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98), weight_decay=0.05)
    random = np.random.default_rng(seed)
    seen, step, losses, begun = 0.0, 0, [], time.monotonic()
    waiting = sorted(marks)
    while waiting:
        if seen >= waiting[0]:
            folder = out / checkpoint_name(waiting.pop(0))
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            loss = np.mean(losses[-20:]) if losses else float("nan")
            print(f"{folder.name}: loss {loss:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            continue
        starts = random.integers(0, len(stream) - CONTEXT, BATCH)
        batch = torch.from_numpy(np.stack([stream[start : start + CONTEXT] for start in starts]))
        for group in optimiser.param_groups:
            group["lr"] = 2e-3 * min(1.0, (step + 1) / 50)
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        seen += batch.numel() * words_per_token
        step += 1


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path, nargs="+", help=".txt or .rdb")
    parser.add_argument("--out", type=Path, default=Path("checkpoints"))
    parser.add_argument(
        "--words",
        type=int,
        nargs="+",
        default=[2_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
        help="Words seen at which to save.",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    paragraphs = [line for path in options.text for line in read_paragraphs(path)]
    train(paragraphs, options.words, options.out, options.seed)


if __name__ == "__main__":
    main()
