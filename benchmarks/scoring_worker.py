"""One contestant of benchmarks/scoring.py, in a process and an environment of its own.

    python scoring_worker.py WHO MODEL METHOD THREADS BATCH

WHO is felicity, minicons or lm-eval; MODEL a folder; BATCH texts in a batch (peers), tokens (us).
Loads the model once, says so, then reads requests as lines of JSON and answers each with one:
{"pairs": [[context, answer], …]} with wall and CPU seconds, the mean log-probability of each answer
(lm-eval: the sum) and the process's peak memory; {"gemm": …} with the speed of matrix products.
Imports of contestants are in functions, since no environment has all of them.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

Pairs = list[tuple[str, str]]
Scorer = Callable[[Pairs], list[float]]


def felicity(model: str, method: str, batch: int) -> tuple[Scorer, dict[str, Any]]:
    from felicity import open_participant
    from felicity.types import TextPair

    # Peers put nothing before a causal text; with the same texts the scores can be compared.
    participant = open_participant(
        f"hf:{model}", method=method, prefix="none", device="cpu", batch_tokens=batch
    )

    def score(pairs: Pairs) -> list[float]:
        plan = participant.plan([TextPair(context=c, answer=a) for c, a in pairs])
        found = {}
        for part in plan.batches:
            found.update(zip(part, participant.score(plan, part), strict=True))
        return [found[i].log_prob_mean for i in range(len(pairs))]

    return score, {"way": getattr(participant, "way", None) or "masked"}


def minicons(model: str, method: str, batch: int) -> tuple[Scorer, dict[str, Any]]:
    import torch
    from minicons import scorer
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(model)
    causal = method == "logprob"
    loader = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    kind = scorer.IncrementalLMScorer if causal else scorer.MaskedLMScorer
    weights = loader.from_pretrained(model, dtype=torch.float32).eval()
    lm = kind(weights, "cpu", tokenizer=tokenizer)
    options = {} if causal else {"PLL_metric": method.removeprefix("pll_")}

    def score(pairs: Pairs) -> list[float]:
        found: list[float] = []
        for first in range(0, len(pairs), batch):
            part = pairs[first : first + batch]
            contexts, answers = [c for c, _ in part], [a.strip() for _, a in part]
            found += lm.conditional_score(contexts, answers, separator=" ", **options)
        return [float(value) for value in found]

    return score, {}


def lm_eval(model: str, method: str, batch: int) -> tuple[Scorer, dict[str, Any]]:
    import torch
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    if method != "logprob":
        raise SystemExit("lm-eval scores no masked models")
    tokenizer = PreTrainedTokenizerFast.from_pretrained(model)
    weights = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    lm = HFLM(pretrained=weights, tokenizer=tokenizer, device="cpu", batch_size=batch)

    def score(pairs: Pairs) -> list[float]:
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=number)
            for number, pair in enumerate(pairs)
        ]
        return [float(total) for total, _ in lm.loglikelihood(requests, disable_tqdm=True)]

    return score, {}


def measure_gemm(shapes: list[tuple[int, int, int]]) -> list[float]:
    """Return FLOP/s of x·Wᵀ for shapes (rows, inputs, outputs): the median of five.

    The best of several would be what the machine does when nothing else runs, and a whole run is
    not measured so.
    """
    import torch

    found = []
    for rows, inputs, outputs in shapes:
        x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
        into = torch.empty(rows, outputs)
        times = []
        for _ in range(6):
            start = time.process_time()
            torch.mm(x, weight.t(), out=into)
            times.append(time.process_time() - start)
        # The first has its pages to touch.
        found.append(2 * rows * inputs * outputs / statistics.median(times[1:]))
    return found


def main() -> None:
    who, model, method, threads, batch = sys.argv[1:]
    # Answers go where stdout went; what libraries print goes to stderr.
    answers, sys.stdout = sys.stdout, sys.stderr
    import torch

    torch.set_num_threads(int(threads))
    opened = {"felicity": felicity, "minicons": minicons, "lm-eval": lm_eval}[who]
    score, about = opened(model, method, int(batch))
    print(json.dumps({"ready": who, **about}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "gemm" in request:
            reply: dict[str, Any] = {"flops": measure_gemm(request["gemm"])}
        else:
            pairs = [(context, answer) for context, answer in request["pairs"]]
            wall, cpu = time.perf_counter(), time.process_time()
            scores = score(pairs)
            reply = {
                "cpu": time.process_time() - cpu,
                "wall": time.perf_counter() - wall,
                "scores": scores,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
