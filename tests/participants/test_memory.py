"""Batches that do not fit into memory: halved, nothing lost, no score changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from felicity import read_run, run
from felicity.errors import FaultsError
from felicity.participants import participant_from_model
from felicity.participants.memory import Halving, batch_tokens_for, choose_batch_tokens
from felicity.types import TextPair

import tiny
from study_folders import write_study

KINDS = {
    "logprob": (tiny.gpt2, "bytelevel"),
    "pll_original": (tiny.bert, "wordpiece"),
    "pll_within_word_l2r": (tiny.roberta, "roberta"),
    "seq2seq": (tiny.t5, "unigram"),
}
ERRORS = {
    "cuda": torch.cuda.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB"
    ),
    "cpu": RuntimeError(
        "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: "
        "you tried to allocate 4294967296 bytes. Error code 12 (Cannot allocate memory)"
    ),
}
TEXTS = [
    TextPair(context=f"Leslie: Where is the {what}?\nJoan:", answer=answer)
    for what in ("dog", "small cat", "aunt of the boy who was ill")
    for answer in (" In the garden.", " It is in the garden where you left it.", " No.")
]


def opened(method):
    build, kind = KINDS[method]
    tokenizer = tiny.tokenizer(kind)
    return participant_from_model(build(len(tokenizer)), tokenizer, spec="x", method=method)


def limit(participant, tokens, error=ERRORS["cuda"]):
    """Let any forward pass of more tokens fail; return the sizes that were tried."""
    tried = []

    def check(_module, given):
        tried.append(given[0].numel())
        if tried[-1] > tokens:
            raise error

    for embedding in embeddings(participant.model):
        embedding.register_forward_pre_hook(check)
    return tried


def embeddings(model):
    """What every way of scoring goes through first; T5 has one for each side."""
    size = model.config.vocab_size
    found = [m for m in model.modules() if getattr(m, "num_embeddings", None) == size]
    assert found
    return found


def scores(participant, texts=TEXTS):
    plan = participant.plan(texts)
    halving = Halving(participant)
    found = {}
    for batch in plan.batches:
        for scored in halving.score(plan, batch):
            assert scored.fits
            found.update(zip(scored.places, scored.scores, strict=True))
    return [found[i] for i in range(len(texts))]


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("method", KINDS)
def test_halving_loses_nothing_and_changes_no_score(method, error):
    participant = opened(method)
    expected = scores(participant)
    tried = limit(participant, 60, error)
    got = scores(participant)
    assert max(tried) > 60, "nothing had to be halved"
    assert len(got) == len(TEXTS)
    for one, other in zip(got, expected, strict=True):
        assert one.token_ids == other.token_ids
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-5)


def test_what_did_not_fit_once_is_not_tried_again_at_that_size():
    participant = opened("logprob")
    plan = participant.plan(TEXTS)
    batch = tuple(range(len(TEXTS)))
    tried = limit(participant, 60)
    halving = Halving(participant)
    list(halving.score(plan, batch))
    failed = sum(size > 60 for size in tried)
    tried.clear()
    list(halving.score(plan, batch))
    assert sum(size > 60 for size in tried) < failed


def test_one_long_text_of_a_masked_model_goes_through_a_few_copies_at_a_time():
    participant = opened("pll_original")
    text = TextPair(context="Who?", answer=" it was the dog of the aunt in the garden" * 2)
    (expected,) = scores(participant, [text])
    width = len(participant.plan([text]).encoded[0].ids)
    tried = limit(participant, width)
    (got,) = scores(participant, [text])
    assert max(tried) > width
    assert len(tried) > len(expected.log_probs)
    assert got.log_probs == pytest.approx(expected.log_probs, abs=1e-5)


def test_an_error_of_another_kind_is_no_lack_of_memory():
    participant = opened("logprob")
    limit(participant, 0, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        scores(participant)


def test_a_text_that_does_not_fit_alone_is_named_and_all_others_are_kept(tmp_path):
    from felicity import load_study

    study = load_study(write_study(tmp_path / "study"))
    participant = opened("logprob")
    whole = run(study, participant, tmp_path / "whole").responses
    trials = study.trials(study.format())
    lengths = [len(one.ids) - 1 for one in participant.plan([t.pair for t in trials]).encoded]
    # Without its prefix shared with others the longest text alone is this long.
    longest = {t.trial_id for t, n in zip(trials, lengths, strict=True) if n == max(lengths)}
    limit(participant, max(lengths) - 1)
    with pytest.raises(FaultsError) as caught:
        run(study, participant, tmp_path / "run")
    assert {fault.file for fault in caught.value.faults} == longest
    text = str(caught.value)
    assert f'memory: got "{max(lengths) + 1} tokens"; expected a text that fits into' in text
    assert "run the same command again: only these are still to be scored" in text
    kept = read_run(tmp_path / "run")
    assert not kept.complete
    assert kept.responses.height == len(trials) - len(longest)
    assert (tmp_path / "run" / "responses.parquet").is_file()
    # With room again, the same command does the rest.
    for embedding in embeddings(participant.model):
        embedding._forward_pre_hooks.clear()
    done = run(study, participant, tmp_path / "run")
    assert done.complete
    for column in ("item_id", "answer_label", "token_ids"):
        assert done.responses[column].to_list() == whole[column].to_list()
    assert done.responses["log_prob_sum"].to_list() == pytest.approx(
        whole["log_prob_sum"].to_list(), abs=1e-4
    )


def test_the_size_of_a_batch_follows_free_memory_and_the_width_of_the_model():
    small, large = tiny.gpt2(600).config, tiny.gpt2(600, n_inner=4096).config
    sizes = [batch_tokens_for(2**power, small, 4) for power in range(10, 40)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (256, 65536)
    assert all(size & (size - 1) == 0 for size in sizes)
    assert batch_tokens_for(2**28, large, 4) < batch_tokens_for(2**28, small, 4)
    assert batch_tokens_for(2**26, small, 2) >= batch_tokens_for(2**26, small, 4)
    # On a processor it is a constant, so that a run gone on with has the batches it began with.
    assert choose_batch_tokens(tiny.gpt2(600)) == 1024


IN_EARNEST = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import tiny, torch
from felicity.participants import participant_from_model
from felicity.participants.memory import Halving
from felicity.types import TextPair

torch.set_num_threads(1)
tokenizer = tiny.tokenizer("bytelevel")
model = tiny.gpt2(len(tokenizer), n_inner=2048)
texts = [TextPair(context=f"What are {i} and {i * i}?", answer=" Two numbers.") for i in range(300)]

def scores(batch_tokens):
    participant = participant_from_model(
        model, tokenizer, spec="x", method="logprob", batch_tokens=batch_tokens)
    plan = participant.plan(texts)
    halving, found, pieces = Halving(participant), {}, 0
    for batch in plan.batches:
        for scored in halving.score(plan, batch):
            assert scored.fits
            pieces += 1
            found.update(zip(scored.places, scored.scores))
    values = [value for i in range(len(texts)) for value in found[i].log_probs]
    return values, len(plan.batches), pieces

expected, _, _ = scores(512)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 16 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
got, batches, pieces = scores(10**6)
print(batches, pieces, max(abs(a - b) for a, b in zip(got, expected, strict=True)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits a process by RLIMIT_AS")
def test_a_process_that_really_has_no_more_memory_gets_all_its_scores():
    done = subprocess.run(
        [sys.executable, "-c", IN_EARNEST, str(Path(__file__).parents[1])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    batches, pieces, worst = done.stdout.split()
    assert int(batches) == 1
    assert int(pieces) > 1, "it had memory enough"
    assert float(worst) <= 1e-5
