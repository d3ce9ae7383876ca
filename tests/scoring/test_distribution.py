"""Distributions over a scale, and sampling: laws, and values computed one by one."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest
import torch

from felicity.errors import ModelError
from felicity.scoring.distribution import (
    OUTSIDE_LIMIT,
    distribution_text,
    parse_distribution,
    read_distribution,
)
from felicity.scoring.generate import Draw, choose_token, generate
from felicity.scoring.numbers import number_log_probs, spell_numbers
from felicity.scoring.reading import Reader, open_reader
from felicity.types import Scale

import tiny

SEVEN = Scale(low=1, high=7)
CUE = "How good is it? Rating:"


class Uniform(torch.nn.Module):
    """Gives every token the same probability, whatever it reads."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.vocabulary = vocabulary

    def get_output_embeddings(self):
        return None

    def forward(self, input_ids, attention_mask=None, use_cache=None):
        from types import SimpleNamespace

        return SimpleNamespace(logits=torch.zeros(*input_ids.shape, self.vocabulary))


def encoder(tokenizer):
    return lambda text: tuple(tokenizer(CUE + text, add_special_tokens=False)["input_ids"])


def numbers_of(kind: str, scale: Scale):
    tokenizer = tiny.tokenizer(kind)
    encode = encoder(tokenizer)
    numbers = spell_numbers(encode, tokenizer, scale, vocabulary=len(tokenizer), label="tiny")
    return tokenizer, encode(""), numbers


def next_log_probs(model, ids):
    """The long way: no cache, no tree."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits
    return logits[0, -1].float().log_softmax(-1)


@pytest.mark.parametrize("kind", ["bytelevel", "metaspace"])
@pytest.mark.parametrize("scale", [SEVEN, Scale(low=0, high=100), Scale(low=-3, high=3)], ids=str)
def test_every_probability_is_that_of_its_spellings_one_by_one(kind, scale):
    tokenizer, cue, numbers = numbers_of(kind, scale)
    model = tiny.gpt2(len(tokenizer), n_positions=64)
    reader = open_reader(model, cue, shares=True)
    assert reader.way == "tree"
    found = number_log_probs(reader, cue, numbers)
    assert list(found) == list(scale.values)
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    goes_on = [t.lstrip(".,")[:1].isdecimal() or t.startswith("<0x3") for t in tokens]
    goes_on = [on and t not in ("<0x3A>", "<0x3B>", "<0x3C>", "<0x3D>", "<0x3E>", "<0x3F>")
               for on, t in zip(goes_on, tokens, strict=True)]  # fmt: skip
    for value in list(scale.values)[:: max(1, len(scale.values) // 12)]:
        total = 0.0
        for spelling in {encoder(tokenizer)(f"{space}{value}") for space in ("", " ")}:
            assert spelling[: len(cue)] == cue
            log_prob = sum(
                float(next_log_probs(model, spelling[:place])[spelling[place]])
                for place in range(len(cue), len(spelling))
            )
            after = next_log_probs(model, spelling).exp()
            total += math.exp(log_prob) * float(after[~torch.tensor(goes_on)].sum())
        assert math.exp(found[value]) == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("kind", ["bytelevel", "metaspace"])
@pytest.mark.parametrize("scale", [SEVEN, Scale(low=0, high=100)], ids=str)
def test_scale_and_outside_sum_to_one(kind, scale):
    tokenizer, cue, numbers = numbers_of(kind, scale)
    reader = open_reader(tiny.gpt2(len(tokenizer), n_positions=64), cue, shares=False)
    found = json.loads(distribution_text(number_log_probs(reader, cue, numbers)))
    assert sum(found["probabilities"].values()) < 1
    assert sum(found["probabilities"].values()) + found["outside"] == pytest.approx(1, abs=1e-12)


def test_a_uniform_model_makes_the_seven_numbers_equally_likely():
    tokenizer, cue, numbers = numbers_of("bytelevel", SEVEN)
    size = len(tokenizer)
    reader = open_reader(Uniform(size), cue, shares=True)
    found = number_log_probs(reader, cue, numbers)
    ends = int(numbers.ends.sum()) / size
    assert 0.9 < ends < 1
    by_hand = {
        value: math.log(sum(size ** -len(s) for s in spellings) * ends)
        for value, spellings in numbers.spellings.items()
    }
    assert found == pytest.approx(by_hand, abs=1e-5)
    assert len({len(s) for s in numbers.spellings.values()}) == 1
    read = read_distribution(distribution_text(found))
    assert read.mean == pytest.approx(4, abs=1e-5)
    assert read.entropy_bits == pytest.approx(math.log2(7))


def test_one_does_not_hold_what_belongs_to_ten():
    """Given a model that always writes 10, 1 has no mass."""
    tokenizer, cue, numbers = numbers_of("metaspace", Scale(low=0, high=100))
    # This tokenizer writes digits as bytes: <0x31>, <0x30>.
    one, zero = tokenizer.convert_tokens_to_ids(["<0x31>", "<0x30>"])
    assert (one, zero) in numbers.spellings[10]
    assert (one,) in numbers.spellings[1]

    class Ten(Uniform):
        def forward(self, input_ids, attention_mask=None, use_cache=None):
            out = super().forward(input_ids)
            for place, token in enumerate(input_ids[0].tolist()):
                after = {cue[-1]: one, one: zero}.get(token, 0)
                out.logits[0, place, after] = 50.0
            return out

    found = number_log_probs(open_reader(Ten(len(tokenizer)), cue, shares=False), cue, numbers)
    assert math.exp(found[10]) == pytest.approx(1, abs=1e-6)
    assert math.exp(found[1]) < 1e-6
    text = distribution_text(found)
    assert parse_distribution(text, "stop", Scale(low=0, high=100)).value == pytest.approx(10)


def test_a_tokenizer_that_merges_numbers_is_refused():
    tokenizer = tiny.tokenizer("bytelevel")
    with pytest.raises(ModelError, match="does not keep the numbers 1 to 7 apart"):
        spell_numbers(lambda text: (1, 2), tokenizer, SEVEN, vocabulary=9, label="tiny")


@pytest.mark.parametrize(
    ("make", "way"),
    [
        (tiny.gpt2, "tree"),
        (tiny.llama, "tree"),
        (tiny.opt, "tree"),
        (tiny.bloom, "cached"),
        (tiny.mistral, None),
        (tiny.mamba, "plain"),
    ],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_short_cuts_give_what_the_plain_way_gives(make, way):
    """Also a sliding window shorter than the text, ALiBi, and a model without such a cache."""
    model = make(600)
    text = tuple(range(5, 65))
    other = (*text[:40], *range(100, 130))
    reader = open_reader(model, text, shares=True)
    assert way in (reader.way, None)
    plain = Reader(model, way="plain", shares=False)
    paths = ((7,), (8,), (7, 9), (7, 9, 3))
    for one in (text, other, text[:30], text, text):
        left, right = reader.branch(one, paths), plain.branch(one, paths)
        for a, b in zip(left, right, strict=True):
            assert torch.allclose(a, b, atol=1e-4)
        assert torch.allclose(reader.read(one), next_log_probs(model, one), atol=1e-4)
        assert torch.allclose(reader.follow((4, 5)), plain.follow((4, 5)), atol=1e-4)


def test_a_cached_beginning_gives_what_a_fresh_one_gives():
    model = tiny.llama(600)
    text, other = tuple(range(5, 65)), (*range(5, 50), *range(200, 220))
    shared = Reader(model, way="tree", shares=True)
    shared.read(other)
    fresh = Reader(model, way="tree", shares=True)
    assert torch.allclose(shared.read(text), fresh.read(text), atol=1e-5)
    alone = Reader(model, way="tree", shares=False)
    alone.read(other)
    alone.follow((3, 4))
    assert torch.equal(alone.read(text), Reader(model, way="cached", shares=False).read(text))


def test_a_pass_that_is_broken_off_leaves_nothing_half_read():
    model = tiny.llama(600)
    text = tuple(range(5, 65))
    reader = Reader(model, way="tree", shares=True)
    expected = reader.read(text).clone()
    layer = model.model.layers[1]

    def fail(*_):
        raise KeyboardInterrupt

    handle = layer.register_forward_pre_hook(fail)
    with pytest.raises(KeyboardInterrupt):
        reader.read((*text[:40], 300, 301))
    handle.remove()
    assert torch.allclose(reader.read((*text[:40], 300)), next_log_probs(
        model, (*text[:40], 300)), atol=1e-5)  # fmt: skip
    assert torch.allclose(reader.read(text), expected, atol=1e-5)


def test_greedy_is_the_argmax_by_hand():
    model = tiny.gpt2(600)
    text = tuple(range(5, 25))
    draw = Draw(temperature=0, top_p=None, seed=0, max_tokens=12)
    reader = open_reader(model, text, shares=False)
    made = generate(reader, text, draw, end_ids=frozenset())
    ids = list(text)
    for _ in range(12):
        ids.append(int(next_log_probs(model, ids).argmax()))
    assert made.ids == tuple(ids[20:])
    assert (made.finish, made.sampled) == ("length", 12)


def test_an_end_token_stops_and_is_not_part_of_the_reply():
    model = tiny.gpt2(600)
    text = tuple(range(5, 25))
    draw = Draw(temperature=1, top_p=None, seed=4, max_tokens=12)
    reader = open_reader(model, text, shares=False)
    whole = generate(reader, text, draw, end_ids=frozenset()).ids
    end = next(t for place, t in enumerate(whole) if place >= 3 and t not in whole[:place])
    made = generate(reader, text, draw, end_ids=frozenset({end}))
    assert made.ids == whole[: whole.index(end)]
    assert (made.finish, made.sampled) == ("stop", len(made.ids) + 1)


def test_tokens_are_drawn_as_often_as_they_are_probable():
    log_probs = torch.tensor([0.5, 0.3, 0.15, 0.05, 0.0]).log()
    generator = torch.Generator().manual_seed(1)

    def shares(**given):
        draw = Draw(**{"temperature": 1.0, "top_p": None, "seed": 0, "max_tokens": 1, **given})
        drawn = [choose_token(log_probs, draw, generator) for _ in range(8000)]
        return [drawn.count(token) / len(drawn) for token in range(5)]

    # Four standard errors of a share of 8,000 draws.
    assert shares() == pytest.approx([0.5, 0.3, 0.15, 0.05, 0.0], abs=0.0225)
    assert shares(top_p=0.7) == pytest.approx([0.625, 0.375, 0, 0, 0], abs=0.0225)
    flat = torch.tensor([0.5, 0.3, 0.15, 0.05, 0.0]) ** 0.5
    expected = (flat / flat.sum()).tolist()
    assert shares(temperature=2.0) == pytest.approx(expected, abs=0.0225)
    assert shares(temperature=1e-4)[0] == 1


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("", "stop"),
        ("5", "stop"),
        ("[]", "stop"),
        ('{"probabilities": {}, "outside": 1}', "stop"),
        ('{"probabilities": [1], "outside": 0}', "stop"),
        ('{"probabilities": {"1": 0.5, "2": 0.5}, "outside": 0}', "length"),
        ('{"probabilities": {"1": 0.5, "2": 0.4}, "outside": 0}', "stop"),
        ('{"probabilities": {"1": 1.5, "2": -0.5}, "outside": 0}', "stop"),
        ('{"probabilities": {"1": NaN, "2": 0.5}, "outside": 0.5}', "stop"),
        ('{"probabilities": {"1": 0.5, "2": 0.5, "3": 0}, "outside": 0}', "stop"),
        ('{"probabilities": {"1": 0, "2": 0}, "outside": 1}', "stop"),
        ('{"probabilities": {"1": 0.004, "2": 0.004}, "outside": 0.992}', "stop"),
    ],
)
def test_what_is_no_distribution_over_the_scale_has_no_value(text, finish):
    parsed = parse_distribution(text, finish, Scale(low=1, high=2))
    assert (parsed.value, parsed.status, parsed.span) == (None, "unparsed", None)


def test_distributions_are_read_without_torch():
    code = "import sys, felicity.scoring.distribution as d; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_mean_is_of_the_scale_alone():
    text = '{"probabilities": {"1": 0.02, "2": 0.01}, "outside": 0.97}'
    assert OUTSIDE_LIMIT > 0.97
    parsed = parse_distribution(text, "stop", Scale(low=1, high=2))
    assert parsed.value == pytest.approx(4 / 3)
    certain = read_distribution('{"probabilities": {"1": 0, "2": 1}, "outside": 0}')
    assert (certain.mean, certain.entropy_bits) == (2, 0)
