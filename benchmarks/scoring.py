"""Scoring speed side by side with peers, against the machine's limit, and its growth.

    benchmarks/make_peers.sh .venv-peers
    python benchmarks/make_models.py .bench-models
    python benchmarks/scoring.py --peer minicons --peer lm-eval --model embedded:smollm2-135m
    python benchmarks/scoring.py --peer minicons --model .bench-models/roberta-base-shaped
    python benchmarks/scoring.py --model embedded:smollm2-135m --growth

Every contestant loads the model once, in a process of its own (scoring_worker.py), and scores the
same texts in float32 with the same number of threads, in turns; each figure is the median over the
turns. Ratios are those of one turn. CPU seconds are printed beside wall time, since they are the
steadier on a machine that does other things too.

The limit: the floating-point operations of the model's matrix products over every token that
differs (causal: every beginning of a text once; masked: every masked copy once), every layer in
full, the head where it is needed; divided by the speed of products of the same shapes, measured in
the same turn. No attention, norm, activation or log-softmax is in it.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from felicity import load_study
from felicity.participants.embedded import embedded_model, fetch_embedded
from felicity.scoring.encode import Encoded, encode_pairs
from felicity.scoring.masked import masked_copies
from felicity.scoring.packed import read_part
from felicity.scoring.prefix import Prefix
from felicity.study import Study
from felicity.types import TextPair

HERE = Path(__file__).parent
NO_PREFIX = Prefix(policy="none", ids=(), tokens=())
# Enough names for ten times the study's items; the study itself has six pairs.
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gia", "Hugo", "Ines"]


@dataclass(slots=True)
class Contestant:
    """A running worker and what it has answered."""

    name: str
    process: subprocess.Popen[str]
    about: dict[str, Any] = field(default_factory=dict)
    turns: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request; wait for its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """Read one answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} has ended with {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The least that must be computed: tokens that differ, places where the head is needed."""

    plain: int
    tokens: int
    heads: int
    body: dict[tuple[int, int], int]
    head: dict[tuple[int, int], int]

    def products(self, rows: int) -> list[tuple[int, int, int, float]]:
        """Rows, inputs and outputs of each kind of product, and operations in all of it."""
        at_head = max(1, round(rows * self.heads / self.tokens))
        return [
            *((rows, i, o, 2.0 * i * o * n * self.tokens) for (i, o), n in self.body.items()),
            *((at_head, i, o, 2.0 * i * o * n * self.heads) for (i, o), n in self.head.items()),
        ]


def main() -> None:
    given = read_options()
    folder = model_folder(given.model)
    config = json.loads((folder / "config.json").read_text())
    causal = not config["architectures"][0].endswith("ForMaskedLM")
    method = "logprob" if causal else "pll_within_word_l2r"
    study = load_study("gricean-maxims")
    assert isinstance(study, Study)
    with tempfile.TemporaryDirectory() as scratch:
        for_peers = plain_copy(folder, Path(scratch) / "model")
        entrants = [
            start(name, for_peers if name != "felicity" else folder, method, given)
            for name in ("felicity", *given.peer)
        ]
        try:
            if given.growth:
                result = measure_growth(entrants[0], study, folder, method)
            else:
                result = measure(entrants, study_pairs(study, given.items), folder, method, given)
        finally:
            for entrant in entrants:
                entrant.process.terminate()
                entrant.process.wait()
    result = {
        "model": given.model,
        "method": method,
        "threads": given.threads,
        "machine": f"{platform.processor() or platform.machine()}, torch {torch.__version__}",
        **result,
    }
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--peer", action="append", default=[], choices=["minicons", "lm-eval"])
    options.add_argument("--model", default="embedded:smollm2-135m", help="embedded:NAME or folder")
    options.add_argument("--items", type=int, default=2250, help="whole dialogues, spread evenly")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--batch-tokens", type=int, default=1024, help="ours: tokens in a batch")
    options.add_argument("--peer-batch", type=int, default=16, help="theirs: texts in a batch")
    options.add_argument("--peers-venv", type=Path, default=HERE.parent / ".venv-peers")
    options.add_argument("--growth", action="store_true", help="225, 2,250 and 22,500 items, ours")
    options.add_argument("--json", type=Path, help="write all figures here")
    return options.parse_args()


def model_folder(spec: str) -> Path:
    if spec.startswith("embedded:"):
        return fetch_embedded(embedded_model(spec.removeprefix("embedded:")))
    return Path(spec.removeprefix("hf:")).resolve()


def plain_copy(folder: Path, place: Path) -> Path:
    """Make a folder that transformers 4.57 reads: names of the tokenizer and of RoPE's base."""
    place.mkdir()
    for file in folder.iterdir():
        (place / file.name).symlink_to(file)
    config = json.loads((folder / "config.json").read_text())
    theta = (config.get("rope_parameters") or {}).get("rope_theta")
    if theta:
        config["rope_theta"] = theta
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer["tokenizer_class"] = "PreTrainedTokenizerFast"
    for name, values in (("config.json", config), ("tokenizer_config.json", tokenizer)):
        (place / name).unlink()
        (place / name).write_text(json.dumps(values))
    return place


def start(name: str, folder: Path, method: str, given: argparse.Namespace) -> Contestant:
    ours = name == "felicity"
    python = sys.executable if ours else str(given.peers_venv / "bin" / "python")
    batch = given.batch_tokens if ours else given.peer_batch
    words = [python, str(HERE / "scoring_worker.py"), name, str(folder), method]
    process = subprocess.Popen(
        [*words, str(given.threads), str(batch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if ours else subprocess.DEVNULL,
        text=True,
    )
    entrant = Contestant(name, process)
    entrant.about = entrant.read()
    return entrant


def study_pairs(study: Study, items: int) -> list[tuple[str, str]]:
    """Both answers of so many items, in whole dialogues spread evenly over the study."""
    units = list(dict.fromkeys(item.unit for item in study.items))
    step = max(1, round(len(study.items) / items))
    kept = set(units[::step])
    chosen = tuple(item for item in study.items if item.unit in kept)[:items]
    trials = study.trials(study.format(), chosen)
    return [(trial.pair.context, trial.pair.answer) for trial in trials]


def more_names(study: Study) -> list[tuple[str, str]]:
    """Ten times the study's items: every wording of every dialogue under sixty pairs of names."""
    first = study.items[0].factors
    rows = study.select({name: first[name] for name in ("questioner", "responder")})
    names = [(a, b) for a in NAMES for b in NAMES if a != b][:60]
    return [
        (f"{a}: {item.question}\n{b}:", f" {answer}")
        for item in rows
        for a, b in names
        for answer in item.answers.values()
    ]


def measure(
    entrants: list[Contestant],
    pairs: list[tuple[str, str]],
    folder: Path,
    method: str,
    given: argparse.Namespace,
) -> dict[str, Any]:
    work = least_work(folder, method, pairs)
    products = work.products(given.batch_tokens)
    for entrant in entrants:
        entrant.ask({"pairs": pairs[:4]})
    limits = []
    for turn in range(given.repeats):
        speeds = entrants[0].ask({"gemm": [product[:3] for product in products]})["flops"]
        limits.append(sum(total / s for (*_, total), s in zip(products, speeds, strict=True)))
        # Each turn begins with another, so that none always has the machine when it is warm.
        for entrant in entrants[turn % len(entrants) :] + entrants[: turn % len(entrants)]:
            entrant.turns.append(entrant.ask({"pairs": pairs}))
            note(f"turn {turn + 1}: {entrant.name} {entrant.turns[-1]['cpu']:.1f} s of CPU")
    items = len(pairs) // 2
    result = {
        "items": items,
        "repeats": given.repeats,
        "way": entrants[0].about["way"],
        "tokens_plain": work.plain,
        "tokens_that_differ": work.tokens,
        "head_places": work.heads,
        "gflops_of_products": statistics.median(
            sum(total for *_, total in products) / limit / 1e9 for limit in limits
        ),
        "fraction_of_gemm_limit": statistics.median(
            limit / turn["cpu"] for limit, turn in zip(limits, entrants[0].turns, strict=True)
        ),
        "contestants": [compare(entrant, entrants[0], items, method, pairs, folder)
                        for entrant in entrants],
    }  # fmt: skip
    show(result)
    return result


def compare(
    entrant: Contestant,
    ours: Contestant,
    items: int,
    method: str,
    pairs: list[tuple[str, str]],
    folder: Path,
) -> dict[str, Any]:
    """Median speed of one, and how much faster we are, turn by turn."""
    scores, mine = entrant.turns[-1]["scores"], ours.turns[-1]["scores"]
    if entrant.name == "lm-eval":
        sizes = [one.stop - one.start for one in encode(folder, method, pairs)]
        scores = [total / size for total, size in zip(scores, sizes, strict=True)]
    both = list(zip(entrant.turns, ours.turns, strict=True))
    return {
        "name": entrant.name,
        "items_per_second": statistics.median(items / turn["wall"] for turn in entrant.turns),
        "items_per_cpu_second": statistics.median(items / turn["cpu"] for turn in entrant.turns),
        "cpu_ms_per_item": statistics.median(1e3 * t["cpu"] / items for t in entrant.turns),
        "ratio_wall": statistics.median(theirs["wall"] / us["wall"] for theirs, us in both),
        "ratio_cpu": statistics.median(theirs["cpu"] / us["cpu"] for theirs, us in both),
        "largest_difference_of_means": max(abs(a - b) for a, b in zip(scores, mine, strict=True)),
        "peak_mb": max(turn["peak_mb"] for turn in entrant.turns),
    }


def measure_growth(ours: Contestant, study: Study, folder: Path, method: str) -> dict[str, Any]:
    """Time for 225, 2,250 and 22,500 items, and for a token that differs."""
    sizes = [study_pairs(study, 225), study_pairs(study, 2250), more_names(study)]
    ours.ask({"pairs": sizes[0][:4]})
    rows = []
    for pairs in sizes:
        work = least_work(folder, method, pairs)
        turn = ours.ask({"pairs": pairs})
        rows.append(
            {
                "items": len(pairs) // 2,
                "tokens_plain": work.plain,
                "tokens_that_differ": work.tokens,
                "cpu": turn["cpu"],
                "wall": turn["wall"],
                "cpu_ms_per_token": 1e3 * turn["cpu"] / work.tokens,
                "peak_mb": turn["peak_mb"],
            }
        )
        row = rows[-1]
        print(
            f"{row['items']:6d} items  {row['tokens_that_differ']:7d} tokens that differ of "
            f"{row['tokens_plain']:7d}  {row['cpu']:7.1f} s of CPU  "
            f"{row['cpu_ms_per_token']:.3f} ms a token  {row['peak_mb']:.0f} MB",
            flush=True,
        )
    return {"growth": rows}


def encode(folder: Path, method: str, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
    from transformers import AutoTokenizer

    return encode_pairs(
        AutoTokenizer.from_pretrained(folder),
        [TextPair(context=context, answer=answer) for context, answer in pairs],
        prefix=NO_PREFIX if method == "logprob" else None,
        max_tokens=None,
    )


def least_work(folder: Path, method: str, pairs: Sequence[tuple[str, str]]) -> Work:
    """Count tokens that differ, by sets of beginnings: another way than the planner's."""
    encoded = encode(folder, method, pairs)
    body, head = weight_shapes(folder, method)
    if method == "logprob":
        parts = [read_part(one) for one in encoded]
        nodes = {part[:end] for part in parts for end in range(1, len(part) + 1)}
        heads = {one.ids[:end] for one in encoded for end in range(one.start, one.stop)}
        plain, tokens, places = sum(map(len, parts)), len(nodes), len(heads)
    else:
        copies, rows = masked_copies(encoded, method="pll_within_word_l2r", mask_id=-1)
        plain = sum(len(one.ids) * len(row) for one, row in zip(encoded, rows, strict=True))
        tokens, places = sum(len(ids) for ids, _ in copies), len(copies)
    return Work(plain=plain, tokens=tokens, heads=places, body=body, head=head)


def weight_shapes(
    folder: Path, method: str
) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Shapes (inputs, outputs) of the linear layers, and how many: in the body, in the head."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.pytorch_utils import Conv1D

    loader = AutoModelForCausalLM if method == "logprob" else AutoModelForMaskedLM
    with torch.device("meta"):
        model = loader.from_config(AutoConfig.from_pretrained(folder))
    inside = set(model.base_model.modules())
    body: dict[tuple[int, int], int] = {}
    head: dict[tuple[int, int], int] = {}
    for module in model.modules():
        if isinstance(module, torch.nn.Linear | Conv1D):
            inputs, outputs = module.weight.shape
            if isinstance(module, torch.nn.Linear):
                inputs, outputs = outputs, inputs
            into = body if module in inside else head
            into[inputs, outputs] = into.get((inputs, outputs), 0) + 1
    return body, head


def show(result: dict[str, Any]) -> None:
    print(
        f"{result['items']} items, {result['tokens_plain']} tokens, of which "
        f"{result['tokens_that_differ']} differ; head at {result['head_places']} places; way "
        f"{result['way']}"
    )
    print(
        f"fraction of the GEMM limit {result['fraction_of_gemm_limit']:.2f} "
        f"(products at {result['gflops_of_products']:.0f} GFLOP/s)"
    )
    print("              items/s  items/CPU s  we are × (wall)  × (CPU)  largest diff  peak MB")
    for row in result["contestants"]:
        print(
            f"{row['name']:12s} {row['items_per_second']:8.2f} {row['items_per_cpu_second']:12.2f}"
            f" {row['ratio_wall']:16.2f} {row['ratio_cpu']:8.2f}"
            f" {row['largest_difference_of_means']:13.1e} {row['peak_mb']:8.0f}"
        )


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
