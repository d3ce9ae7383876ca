"""Laws that scores obey whatever the model."""

from __future__ import annotations

import math

import pytest
import torch

from felicity.errors import ModelError
from felicity.participants import participant_from_model
from felicity.types import TextPair

import byhand
import tiny

TEXTS = [
    TextPair(context="Leslie: Where is the dog?\nJoan:", answer=" It is in the garden."),
    TextPair(context="Leslie: Where is the dog?\nJoan:", answer=" In a cup."),
    TextPair(context="Leslie: Where is the dog now?\nJoan:", answer=" It is in the garden."),
    TextPair(context="Who?", answer=" I"),
    TextPair(context="Why did you stay at home today, and who was with you?", answer=" I was ill."),
    TextPair(context="Who?", answer=" I"),
    TextPair(context="Leslie: <|endoftext|> What did you eat?\nJoan:", answer=" “Two” 🍎 naïve."),
]
CAUSAL = {
    "gpt2": (tiny.gpt2, "bytelevel"),
    "llama": (tiny.llama, "metaspace"),
    "mistral-window-8": (tiny.mistral, "metaspace"),
    "bloom-alibi": (tiny.bloom, "bytelevel"),
    "mamba": (tiny.mamba, "bytelevel"),
    "opt": (tiny.opt, "bytelevel"),
}
PACKS = {"gpt2", "llama", "opt"}
MASKED = {
    "bert": (tiny.bert, "wordpiece"),
    "roberta": (tiny.roberta, "roberta"),
    "electra": (tiny.electra, "wordpiece"),
}
METHODS = ("pll_within_word_l2r", "pll_original")


def opened(build, kind, method="logprob", **options):
    tokenizer = tiny.tokenizer(kind)
    return participant_from_model(
        build(len(tokenizer)), tokenizer, spec=kind, method=method, **options
    )


def scores(participant, texts=TEXTS):
    plan = participant.plan(texts)
    found = {}
    for batch in plan.batches:
        found.update(zip(batch, participant.score(plan, batch), strict=True))
    return [found[i] for i in range(len(texts))]


def distance(left, right):
    return max(
        abs(a - b)
        for one, other in zip(left, right, strict=True)
        for a, b in zip(one.log_probs, other.log_probs, strict=True)
    )


@pytest.mark.parametrize("name", list(CAUSAL))
def test_causal_scores_are_those_computed_by_hand(name):
    participant = opened(*CAUSAL[name])
    assert participant.packs == (name in PACKS)
    plan = participant.plan(TEXTS)
    for one, got in zip(plan.encoded, scores(participant), strict=True):
        expected = byhand.causal(participant.model, one.ids, one.start, one.stop)
        assert got.log_probs == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", list(MASKED))
@pytest.mark.parametrize("method", METHODS)
def test_masked_scores_are_those_computed_by_hand(name, method):
    participant = opened(*MASKED[name], method=method)
    mask_id = participant.tokenizer.mask_token_id
    plan = participant.plan(TEXTS)
    for one, got in zip(plan.encoded, scores(participant), strict=True):
        hidden = []
        for place in range(one.start, one.stop):
            later = [p for p in range(place + 1, len(one.ids)) if one.words[p] == one.words[place]]
            hidden.append([place, *(later if method == "pll_within_word_l2r" else [])])
        expected = byhand.masked(participant.model, one.ids, hidden, mask_id)
        assert got.log_probs == pytest.approx(expected, abs=1e-5)


def test_the_two_pseudo_log_likelihoods_differ_on_words_of_several_tokens_only():
    within = opened(*MASKED["bert"], method="pll_within_word_l2r")
    original = opened(*MASKED["bert"], method="pll_original")
    texts = [TextPair(context="Who?", answer=" It was the souvenir.")]
    (one,) = within.plan(texts).encoded
    single = [one.words.count(w) == 1 for w in one.words[one.start : one.stop]]
    pairs = list(
        zip(single, scores(within, texts)[0].log_probs, scores(original, texts)[0].log_probs,
            strict=True)
    )  # fmt: skip
    assert any(alone for alone, _, _ in pairs)
    assert all(abs(a - b) < 1e-5 for alone, a, b in pairs if alone)
    assert any(abs(a - b) > 1e-3 for alone, a, b in pairs if not alone)


@pytest.mark.parametrize("name", [*CAUSAL, *MASKED])
def test_batch_size_order_and_neighbours_change_nothing(name):
    build, kind = CAUSAL.get(name) or MASKED[name]
    method = "logprob" if name in CAUSAL else METHODS[0]
    whole = scores(opened(build, kind, method))
    small = opened(build, kind, method, batch_tokens=1)
    assert max(map(len, small.plan(TEXTS).batches)) <= 2
    assert distance(whole, scores(small)) <= 1e-5
    backwards = scores(opened(build, kind, method), TEXTS[::-1])
    assert distance(whole, backwards[::-1]) <= 1e-5
    alone = [scores(small, [text])[0] for text in TEXTS]
    assert distance(whole, alone) <= 1e-5
    assert whole[3] == whole[5]


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert"])
def test_a_uniform_model_gives_minus_ln_v_per_token(name):
    build, kind = CAUSAL.get(name) or MASKED[name]
    tokenizer = tiny.tokenizer(kind)
    model = build(len(tokenizer))
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    method = "logprob" if name in CAUSAL else METHODS[0]
    participant = participant_from_model(model, tokenizer, spec=kind, method=method)
    for got in scores(participant):
        assert got.log_probs == pytest.approx([-math.log(len(tokenizer))] * len(got.log_probs))


def test_chain_rule():
    participant = opened(*CAUSAL["gpt2"])
    whole = TextPair(context="Who?", answer=" It was the dog.")
    parts = [
        TextPair(context="Who?", answer=" It was"),
        TextPair(context="Who? It was", answer=" the dog."),
    ]
    first, second = scores(participant, parts)
    assert scores(participant, [whole])[0].log_prob_sum == pytest.approx(
        first.log_prob_sum + second.log_prob_sum, abs=1e-5
    )


def test_next_token_probabilities_sum_to_one():
    participant = opened(*CAUSAL["gpt2"])
    (one,) = participant.plan([TextPair(context="Who?", answer=" I")]).encoded
    total = 0.0
    from dataclasses import replace

    size = len(participant.tokenizer)
    for first in range(0, size, 100):
        copies = [
            replace(one, ids=(*one.ids[:-1], token))
            for token in range(first, min(first + 100, size))
        ]
        total += sum(math.exp(s.log_prob_sum) for s in participant._scores(copies, way="tree"))
    assert total == pytest.approx(1.0, abs=1e-5)


def test_first_token_of_an_empty_context_is_scored_after_the_prefix():
    participant = opened(*CAUSAL["gpt2"])
    (got,) = scores(participant, [TextPair(context="", answer="I")])
    expected = byhand.causal(participant.model, [0, *got.token_ids], 1, 2)
    assert got.log_probs == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_log_softmax_is_in_float32_whatever_the_dtype(dtype):
    tokenizer = tiny.tokenizer("bytelevel")
    model = tiny.gpt2(len(tokenizer)).to(dtype)
    participant = participant_from_model(model, tokenizer, spec="x", method="logprob")
    values = [value for got in scores(participant) for value in got.log_probs]
    rounded = torch.tensor(values).to(dtype).double()
    assert (rounded - torch.tensor(values, dtype=torch.float64)).abs().max() > 1e-6


def test_a_model_in_train_mode_is_scored_without_dropout_and_left_in_train_mode():
    tokenizer = tiny.tokenizer("bytelevel")
    model = tiny.gpt2(len(tokenizer)).train()
    participant = participant_from_model(model, tokenizer, spec="x", method="logprob")
    first, second = scores(participant), scores(participant)
    assert model.training
    assert first == second
    assert distance(first, scores(opened(*CAUSAL["gpt2"]))) <= 1e-6


def test_tokenizer_is_not_changed():
    tokenizer = tiny.tokenizer("bytelevel")
    before = (tokenizer.pad_token, tokenizer.padding_side, tokenizer.backend_tokenizer.to_str())
    participant = participant_from_model(
        tiny.gpt2(len(tokenizer)), tokenizer, spec="x", method="logprob"
    )
    scores(participant)
    after = (tokenizer.pad_token, tokenizer.padding_side, tokenizer.backend_tokenizer.to_str())
    assert before == after


def test_a_bidirectional_model_under_logprob_is_refused():
    from transformers import RobertaForCausalLM

    tokenizer = tiny.tokenizer("roberta")
    masked = tiny.roberta(len(tokenizer))
    model = RobertaForCausalLM(masked.config)
    model.load_state_dict(masked.state_dict())
    with pytest.raises(ModelError, match="earlier tokens see later ones") as caught:
        participant_from_model(model.eval(), tokenizer, spec="x", method="logprob")
    assert "--method pll_within_word_l2r" in str(caught.value)


def test_a_model_that_gives_nan_is_refused():
    tokenizer = tiny.tokenizer("bytelevel")
    model = tiny.gpt2(len(tokenizer))
    with torch.no_grad():
        model.transformer.wte.weight[5:, :] = float("nan")
    with pytest.raises(ModelError):
        participant_from_model(model, tokenizer, spec="x", method="logprob")


def test_a_long_text_goes_through_a_masked_model_in_chunks():
    tokenizer = tiny.tokenizer("roberta")
    model = tiny.roberta(len(tokenizer), max_position_embeddings=600)
    participant = participant_from_model(
        model, tokenizer, spec="x", method="pll_original", batch_tokens=2048
    )
    seen = []
    model.register_forward_pre_hook(
        lambda _m, _a, kwargs: seen.append(kwargs["input_ids"].shape), with_kwargs=True
    )
    (got,) = scores(participant, [TextPair(context="Who?", answer=" it was the dog" * 60)])
    assert len(got.log_probs) > 200
    assert max(rows * width for rows, width in seen) <= 2048
