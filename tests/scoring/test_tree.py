"""What texts share is computed once, and no number changes by it."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from felicity.participants import participant_from_model
from felicity.scoring.attention import NAME, attending, cut_chunks
from felicity.scoring.causal import score_causal
from felicity.scoring.counts import TokenPlan, count_tokens
from felicity.scoring.encode import Encoded
from felicity.scoring.fused import FewSteps, fused_activations
from felicity.scoring.head import head_log_probs, log_probs_of, lone_head
from felicity.scoring.masked import masked_copies, score_masked
from felicity.scoring.narrow import narrow_last
from felicity.scoring.packed import grow_tree, plan_packed, read_part
from felicity.scoring.selftest import largest_difference
from felicity.scoring.tree import score_tree
from felicity.types import TextPair

import byhand
import tiny

TEXTS = [
    TextPair(context="Leslie: Where is the dog?\nJoan:", answer=" It is in the garden."),
    TextPair(context="Leslie: Where is the dog?\nJoan:", answer=" It is in a cup."),
    TextPair(context="Leslie: Where is the cat?\nJoan:", answer=" It is in the garden."),
]


def text(ids, start, words=None):
    return Encoded(
        ids=tuple(ids),
        start=start,
        stop=len(ids),
        tokens=("x",) * (len(ids) - start),
        words=tuple(words or range(len(ids))),
        straddles=False,
    )


def random_texts(seed, count=60, vocabulary=6, longest=20):
    """Texts of few kinds of tokens, so that they share beginnings of all lengths."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        size = draw.randint(2, longest)
        ids = [1, *(draw.randint(1, vocabulary) for _ in range(size - 1))]
        texts.append(text(ids, draw.randint(1, size - 1)))
    return texts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [1, 3, 16, 1000])
def test_a_node_sees_its_ancestors_and_itself(seed, size):
    row, _ = grow_tree(random_texts(seed))
    chunks = cut_chunks(row.parents, row.depths, size)
    assert sum(map(len, chunks.sees)) >= len(row.ids)
    for node in range(len(row.ids)):
        ancestors, at = {node}, node
        while row.parents[at] >= 0:
            at = row.parents[at]
            ancestors.add(at)
        keys = chunks.keys[node // size][chunks.sees[node // size, node % size]]
        assert sorted(keys.tolist()) == sorted(ancestors)


def test_a_forest_without_a_common_root():
    row, places = grow_tree([text([5, 6], 1), text([7, 8], 1)])
    assert row.parents == [-1, -1]
    assert places == [[0], [1]]
    assert cut_chunks(row.parents, row.depths, 4).sees[0, :2].int().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("build", [tiny.gpt2, tiny.llama, tiny.opt])
@pytest.mark.parametrize("chunk", [1, 5, 64])
def test_a_tree_gives_what_plain_batches_give(build, chunk):
    model = build(50)
    texts = random_texts(7)
    plain = score_causal(model, texts, pad_id=0)
    head = lone_head(model, torch.tensor([[1, 2, 3]]))
    assert head is not None
    assert largest_difference(score_tree(model, texts, head=head, chunk=chunk), plain) <= 1e-5
    assert largest_difference(score_tree(model, texts, head=None, chunk=chunk), plain) <= 1e-5


def test_texts_longer_than_many_chunks():
    model = tiny.llama(50)
    draw = random.Random(3)
    trunk = [draw.randint(1, 49) for _ in range(90)]
    texts = [text([*trunk, a, b, 9], 88) for a, b in itertools.product(range(1, 4), repeat=2)]
    plain = score_causal(model, texts, pad_id=0)
    head = lone_head(model, torch.tensor([[1, 2, 3]]))
    assert largest_difference(score_tree(model, texts, head=head, chunk=16), plain) <= 1e-5


def test_the_same_text_split_in_several_places_is_computed_once():
    texts = [text([1, 2, 3, 4], 1), text([1, 2, 3, 4], 2), text([1, 2, 3, 4], 2)]
    row, places = grow_tree(texts)
    assert row.ids == [1, 2, 3]
    assert places == [[0, 1, 2], [1, 2], [1, 2]]
    model = tiny.gpt2(50)
    first, second, third = score_tree(model, texts, head=None)
    assert first.log_probs[1:] == second.log_probs == third.log_probs
    assert first.log_probs == pytest.approx(byhand.causal(model, texts[0].ids, 1, 4), abs=1e-5)


@pytest.mark.parametrize("max_tokens", [1, 7, 40, 10_000])
def test_batches_hold_each_text_once_and_no_more_nodes_than_allowed(max_tokens):
    texts = random_texts(11)
    batches = plan_packed(texts, max_tokens=max_tokens)
    assert sorted(i for batch in batches for i in batch) == list(range(len(texts)))
    for batch in batches:
        row, _ = grow_tree([texts[i] for i in batch])
        assert len(row.ids) <= max_tokens or len({read_part(texts[i]) for i in batch}) == 1


def test_a_whole_plan_has_as_many_nodes_as_there_are_beginnings():
    texts = random_texts(13)
    beginnings = {part[:end] for part in map(read_part, texts) for end in range(1, len(part) + 1)}
    (batch,) = plan_packed(texts, max_tokens=10_000)
    row, _ = grow_tree([texts[i] for i in batch])
    assert len(row.ids) == len(beginnings)


def test_token_plan_of_a_tree_counted_by_hand():
    # Read: 1 2 3 | 1 2 4 | 1 5; nodes 1 2 3 4 5; predictions after 3, after 4, after 1 and 5.
    texts = [text([1, 2, 3, 7], 3), text([1, 2, 4, 8], 3), text([1, 5, 9], 1)]
    plan = count_tokens(texts, [(0, 1, 2)], way="tree", method="logprob")
    assert plan == TokenPlan(texts=3, batches=1, plain=8, computed=5, padding=0, heads=4)
    assert str(plan) == (
        "3 texts in 1 batch: 8 tokens, 5 after sharing (1.60 times fewer), 0 of padding; "
        "4 predictions"
    )
    plan = count_tokens(texts, [(0, 1), (2,)], way="tree", method="logprob")
    assert (plan.batches, plan.computed, plan.heads) == (2, 6, 4)
    # In plain batches the last token is read too: rows of 4, 4 and 3.
    plan = count_tokens(texts, [(0, 1, 2)], way="plain", method="logprob")
    assert (plan.plain, plan.computed, plan.padding, plan.heads) == (8, 11, 1, 4)
    # One row of five nodes.
    plan = count_tokens(texts, [(0, 1, 2)], way="rows", method="logprob")
    assert (plan.computed, plan.padding) == (5, 0)


def test_token_plan_of_masked_copies_counted_by_hand():
    # The two texts differ at their last place alone, so that the copies that hide it are one.
    texts = [text([1, 2, 3, 4], 2), text([1, 2, 3, 5], 2)]
    plan = count_tokens(texts, [(0, 1)], way="masked", method="pll_original")
    assert plan == TokenPlan(texts=2, batches=1, plain=16, computed=12, padding=0, heads=3)
    copies, places = masked_copies(texts, method="pll_original", mask_id=0)
    assert copies == [((1, 2, 0, 4), 2), ((1, 2, 3, 0), 3), ((1, 2, 0, 5), 2)]
    assert places == [[0, 1], [2, 1]]


def test_masked_copies_in_common_give_each_text_its_own_score():
    model = tiny.roberta(50)
    texts = [text([0, 12, 13, 14, 2], 1), text([0, 12, 13, 15, 2], 1)]
    for narrow in (False, True):
        got = score_masked(
            model, texts, method="pll_original", mask_id=4, max_tokens=10, narrow=narrow
        )
        for one, scores in zip(texts, got, strict=True):
            hidden = [[place] for place in range(1, 5)]
            expected = byhand.masked(model, one.ids, hidden, 4)
            assert scores.log_probs == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("vocabulary", [10, 4096, 9000])
@pytest.mark.parametrize("bias", [False, True])
def test_head_in_slices_against_float64(vocabulary, bias):
    torch.manual_seed(0)
    head = torch.nn.Linear(16, vocabulary, bias=bias)
    # The third row's logits are hundreds apart.
    hidden = torch.randn(101, 16) * torch.tensor([1.0, 0.0, 300.0] + [1.0] * 98)[:, None]
    places = torch.tensor([0, 1, 2, 2, 100, 0])
    targets = torch.tensor([0, vocabulary - 1, 3, 5, vocabulary // 2, 0])
    with torch.no_grad():
        got = head_log_probs(head, hidden, places, targets)
        logits = head.double()(hidden.double())
    expected = logits.log_softmax(1)[places, targets]
    head.float()
    assert torch.allclose(got.double(), expected, atol=1e-5, rtol=1e-6)
    assert torch.allclose(
        log_probs_of(logits.float(), places, targets).double(), expected, atol=1e-4, rtol=1e-6
    )


def test_nan_stays_nan():
    head = torch.nn.Linear(4, 10)
    hidden = torch.full((1, 4), float("nan"))
    got = head_log_probs(head, hidden, torch.tensor([0]), torch.tensor([1]))
    assert torch.isnan(got).all()


def gemma2(vocabulary):
    from transformers import Gemma2Config, Gemma2ForCausalLM

    config = Gemma2Config(
        vocab_size=vocabulary, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, head_dim=16, max_position_embeddings=128,
        final_logit_softcapping=2.0, attn_logit_softcapping=1.0, sliding_window=128,
        pad_token_id=0,
    )  # fmt: skip
    return tiny.fill(Gemma2ForCausalLM(config))


def cohere(vocabulary):
    from transformers import CohereConfig, CohereForCausalLM

    config = CohereConfig(
        vocab_size=vocabulary, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=128,
        logit_scale=0.25, pad_token_id=0,
    )  # fmt: skip
    return tiny.fill(CohereForCausalLM(config))


@pytest.mark.parametrize("build", [gemma2, cohere])
def test_what_a_model_does_after_its_head_is_kept(build):
    tokenizer = tiny.tokenizer("metaspace")
    model = build(len(tokenizer))
    participant = participant_from_model(model, tokenizer, spec="x", method="logprob")
    # Their logits are capped or scaled after the head.
    assert participant.head is None
    plan = participant.plan(TEXTS)
    (batch,) = plan.batches
    for place, got in zip(batch, participant.score(plan, batch), strict=True):
        one = plan.encoded[place]
        expected = byhand.causal(model, one.ids, one.start, one.stop)
        assert got.log_probs == pytest.approx(expected, abs=1e-5)


def test_a_cap_within_attention_is_not_left_out():
    tokenizer = tiny.tokenizer("metaspace")
    participant = participant_from_model(
        gemma2(len(tokenizer)), tokenizer, spec="x", method="logprob"
    )
    assert participant.way != "tree"


def test_where_nothing_can_be_shared_it_is_said():
    tokenizer = tiny.tokenizer("bytelevel")
    bloom = participant_from_model(
        tiny.bloom(len(tokenizer)), tokenizer, spec="x", method="logprob"
    )
    assert bloom.way == "plain"
    assert bloom.info.notes == (
        "this architecture does not let texts share their common beginnings, so scoring is slower",
    )
    gpt2 = participant_from_model(tiny.gpt2(len(tokenizer)), tokenizer, spec="x", method="logprob")
    assert gpt2.way == "tree"
    assert gpt2.info.notes == ()


def test_a_model_is_as_it_was_after_scoring_also_after_an_error():
    model = tiny.gpt2(50)
    before = model.config._attn_implementation
    activations = [type(module).__name__ for module in model.modules()]
    with attending(model, print), fused_activations(model):
        assert model.config._attn_implementation.startswith(NAME)
        assert any(isinstance(module, FewSteps) for module in model.modules())
    with pytest.raises(KeyError), attending(model, print), fused_activations(model):
        raise KeyError
    assert model.config._attn_implementation == before
    assert [type(module).__name__ for module in model.modules()] == activations
    masked = tiny.bert(50)
    layers = [*masked.base_model.encoder.layer]
    with pytest.raises(KeyError), narrow_last(masked, torch.tensor([0])):
        raise KeyError
    assert [*masked.base_model.encoder.layer] == layers


def test_few_steps_are_the_same_activation():
    from transformers.activations import NewGELUActivation

    x = torch.linspace(-12, 12, 300_000).reshape(3, -1).t()
    assert (FewSteps()(x) - NewGELUActivation()(x)).abs().max() <= 1e-6
