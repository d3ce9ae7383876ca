"""Every kind of model: its scores are those computed one by one, whatever stands beside them."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from felicity import open_participant
from felicity.errors import ModelError
from felicity.participants import participant_from_model
from felicity.types import TextPair

import byhand
import tiny

QUESTION = "Leslie: Where is the dog?\nJoan:"
TEXTS = [
    TextPair(context=QUESTION, answer=" It is in the garden."),
    TextPair(context=QUESTION, answer=" In a cup."),
    TextPair(context="Leslie: Where is the dog now?\nJoan:", answer=" It is in the garden."),
    TextPair(context="Who?", answer=" I"),
    TextPair(context="Why did you stay at home today, and who was with you?", answer=" I was ill."),
    TextPair(context=QUESTION, answer=" In a cup."),
]
# Longer than any window below.
LONG = TextPair(context="Why did you stay at home today? " * 4, answer=" I was ill, as you know.")

# Name: how it is built, its tokenizer, whether it obeys a mask that packs texts.
CAUSAL = {
    "gpt2-eager": (partial(tiny.gpt2, attn_implementation="eager"), "bytelevel", True),
    "gpt2-sdpa": (partial(tiny.gpt2, attn_implementation="sdpa"), "bytelevel", True),
    "llama-eager": (partial(tiny.llama, attn_implementation="eager"), "metaspace", True),
    "llama-sdpa": (partial(tiny.llama, attn_implementation="sdpa"), "metaspace", True),
    "opt": (tiny.opt, "bytelevel", True),
    "gpt-neox": (tiny.gpt_neox, "bytelevel", True),
    "gpt-neo-window-8": (tiny.gpt_neo, "bytelevel", False),
    "mistral-window-8": (tiny.mistral, "metaspace", False),
    "mamba": (tiny.mamba, "bytelevel", False),
    "bloom-alibi": (tiny.bloom, "bytelevel", False),
    "mpt-alibi": (tiny.mpt, "bytelevel", False),
    "own-code": ("CausalLM", None, False),
}
MASKED = {
    "bert": (tiny.bert, "wordpiece"),
    "roberta": (tiny.roberta, "roberta"),
    "deberta": (tiny.deberta, "wordpiece"),
    "deberta-v2": (tiny.deberta_v2, "wordpiece"),
    "deberta-v3-head": (partial(tiny.deberta_v2, legacy=False), "wordpiece"),
    "electra": (tiny.electra, "wordpiece"),
    "own-code": ("MaskedLM", None),
}
SEQ2SEQ = {
    "t5": (tiny.t5, "unigram"),
    "mt5": (tiny.mt5, "unigram"),
    "bart": (tiny.bart, "roberta"),
}
METHODS = {
    "logprob": CAUSAL,
    "pll_within_word_l2r": MASKED,
    "pll_original": MASKED,
    "seq2seq": SEQ2SEQ,
}
ALL = [(method, name) for method, table in METHODS.items() for name in table]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Return a function that opens a participant, each once."""
    found = {}
    folder = tmp_path_factory.mktemp("own-code")

    def opened(method, name, **options):
        key = method, name, *options.items()
        if key not in found:
            build, kind = METHODS[method][name][:2]
            if kind is None:
                place = folder / f"ltg_style_{build}"
                place = place if place.exists() else tiny.own_code(place, build)
                found[key] = open_participant(
                    f"hf:{place}", method=method, trust_remote_code=True, **options
                )
            else:
                tokenizer = tiny.tokenizer(kind)
                found[key] = participant_from_model(
                    build(len(tokenizer)), tokenizer, spec=name, method=method, **options
                )
        return found[key]

    return opened


def scores(participant, texts=TEXTS):
    plan = participant.plan(texts)
    found = {}
    for batch in plan.batches:
        found.update(zip(batch, participant.score(plan, batch), strict=True))
    return [found[i] for i in range(len(texts))]


def expected(participant, one):
    """The slow way, by plain calls of the model."""
    model, method = participant.model, participant.info.method
    if method == "logprob":
        return byhand.causal(model, one.ids, one.start, one.stop)
    if method == "seq2seq":
        return byhand.seq2seq(model, one.source, one.ids, one.start, one.stop)
    hidden = []
    for place in range(one.start, one.stop):
        later = [p for p in range(place + 1, len(one.ids)) if one.words[p] == one.words[place]]
        hidden.append([place, *(later if method == "pll_within_word_l2r" else [])])
    return byhand.masked(model, one.ids, hidden, participant.tokenizer.mask_token_id)


def distance(left, right):
    pairs = zip(left, right, strict=True)
    return max(abs(a - b) for x, y in pairs for a, b in zip(x.log_probs, y.log_probs, strict=True))


@pytest.mark.parametrize(("method", "name"), ALL)
def test_scores_are_those_computed_one_by_one(opened, method, name):
    participant = opened(method, name)
    for one, got in zip(participant.plan(TEXTS).encoded, scores(participant), strict=True):
        assert got.log_probs == pytest.approx(expected(participant, one), abs=1e-5)
        assert got.token_ids == one.ids[one.start : one.stop]


@pytest.mark.parametrize(("method", "name"), ALL)
def test_batch_size_order_padding_and_duplicates_change_nothing(opened, method, name):
    participant = opened(method, name)
    whole = scores(participant)
    assert distance(whole, scores(participant, TEXTS[::-1])[::-1]) <= 1e-5
    assert distance(whole, [scores(participant, [text])[0] for text in TEXTS]) <= 1e-5
    small = opened(method, name, batch_tokens=40)
    assert len(small.plan(TEXTS).batches) > len(participant.plan(TEXTS).batches)
    assert distance(whole, scores(small)) <= 1e-5
    # Beside a much longer text, and beside itself.
    among = scores(participant, [LONG, *TEXTS, *TEXTS])
    assert distance(whole, among[1 : len(TEXTS) + 1]) <= 1e-5
    assert distance(whole, among[len(TEXTS) + 1 :]) <= 1e-5
    assert whole[1] == whole[5]


@pytest.mark.parametrize("name", CAUSAL)
def test_an_architecture_that_does_not_obey_a_packing_mask_says_so(opened, name):
    participant = opened("logprob", name)
    assert participant.packs == CAUSAL[name][2]
    said = [note for note in participant.info.notes if "does not let texts share" in note]
    assert len(said) == (not participant.packs)


def test_texts_longer_than_a_wide_window_are_not_packed():
    """The self-test's texts are shorter than this window; only the plan can see that it matters."""
    tokenizer = tiny.tokenizer("metaspace")
    model = tiny.mistral(len(tokenizer), window=40)
    participant = participant_from_model(model, tokenizer, spec="x", method="logprob")
    assert participant.packs
    assert participant.plan(TEXTS[:2]).way != "plain"
    plan = participant.plan([LONG, *TEXTS])
    assert len(plan.encoded[0].ids) > 40
    assert plan.way == "plain"
    for one, got in zip(plan.encoded, scores(participant, [LONG, *TEXTS]), strict=True):
        assert got.log_probs == pytest.approx(expected(participant, one), abs=1e-5)


@pytest.mark.parametrize("name", ["llama-eager", "llama-sdpa", "gpt2-eager", "gpt2-sdpa"])
def test_packing_raises_no_half_precision_to_float32(name):
    """A mask or rotary angle in float32 would make the layers that follow float32 too, or fail."""
    build, kind, _ = CAUSAL[name]
    tokenizer = tiny.tokenizer(kind)
    full = participant_from_model(build(len(tokenizer)), tokenizer, spec="x", method="logprob")
    model = build(len(tokenizer)).to(torch.bfloat16)
    half = participant_from_model(model, tokenizer, spec="x", method="logprob")
    assert half.packs
    seen = []
    model.get_output_embeddings().register_forward_pre_hook(
        lambda _module, given: seen.append(given[0].dtype)
    )
    assert 1e-4 < distance(scores(full), scores(half)) < 0.3
    assert set(seen) == {torch.bfloat16}


def test_own_code_is_not_run_unasked(tmp_path):
    folder = tiny.own_code(tmp_path / "ltg_style_unasked", "MaskedLM")
    with pytest.raises(ModelError, match="brings its own code") as caught:
        open_participant(f"hf:{folder}")
    assert "--trust-remote-code" in str(caught.value)
    assert open_participant(f"hf:{folder}", trust_remote_code=True).info.method == (
        "pll_within_word_l2r"
    )
