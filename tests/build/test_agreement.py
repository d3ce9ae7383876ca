"""Agreement of annotators: figures by independent routes, and their intervals."""

from __future__ import annotations

import random

import pytest

from felicity.build.agreement import blind_choices, joint_agreement, pair_agreements
from felicity.build.decisions import Decision
from felicity.build.wording import Wording


def judged(*annotators, lines=3):
    """Verdicts from strings such as "kkr", a letter for a line; "-" is not judged."""
    words = {"k": "keep", "r": "reject"}
    names = ("ann", "bo", "cy", "dee")
    return {
        (f"q-01-{place // lines}", str(place % lines)): {
            name: words[verdicts[place]]
            for name, verdicts in zip(names, annotators, strict=False)
            if verdicts[place] in words
        }
        for place in range(len(annotators[0]))
    }


def by_hand(*annotators):
    """Krippendorff's alpha of a coincidence matrix, written out (Krippendorff 2011)."""
    coincidences = {(a, b): 0.0 for a in "kr" for b in "kr"}
    for unit in zip(*annotators, strict=True):
        values = [value for value in unit if value != "-"]
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                if i != j:
                    coincidences[a, b] += 1 / (len(values) - 1)
    totals = {a: sum(coincidences[a, b] for b in "kr") for a in "kr"}
    n = sum(totals.values())
    observed = coincidences["k", "r"] + coincidences["r", "k"]
    return 1 - observed * (n - 1) / (2 * totals["k"] * totals["r"])


@pytest.mark.parametrize(
    "annotators",
    [
        ("kkkrrrkkk", "kkkrrrkkr", "kkkkrrkkr"),
        ("kkrrkkrrk", "rrkkrrkkr", "krkrkrkrk"),
        ("kk-rr-kkk", "k-krrrk-r", "-kkkrrkkr", "k--------"),
        ("kkkrrr", "kkkrrr", "kkkrrr"),
    ],
)
def test_alpha_is_that_of_the_coincidence_matrix(annotators):
    found = joint_agreement(judged(*annotators))
    assert found.alpha == pytest.approx(by_hand(*annotators))
    judges = [sum(v != "-" for v in unit) for unit in zip(*annotators, strict=True)]
    assert found.lines == sum(count > 1 for count in judges)


def test_alpha_is_of_three_or_more_who_differ_in_something():
    assert joint_agreement(judged("kkr", "kkr")) is None
    assert joint_agreement({}) is None
    assert joint_agreement(judged("kkk", "kkk", "kkk")).alpha is None


def test_intervals_hold_their_figure_and_narrow_with_more_dialogues():
    draw = random.Random(1)
    first = "".join(draw.choice("kkr") for _ in range(300))
    second = "".join(v if draw.random() < 0.8 else draw.choice("kr") for v in first)
    third = "".join(v if draw.random() < 0.8 else draw.choice("kr") for v in first)
    wide, narrow = (judged(first[:n], second[:n], third[:n]) for n in (60, 300))
    for few, many in zip(pair_agreements(wide), pair_agreements(narrow), strict=True):
        figures = {"same_interval": few.same / few.lines, "kappa_interval": few.kappa}
        for name, figure in figures.items():
            low, high = getattr(few, name).low, getattr(few, name).high
            assert low < figure < high
            assert high - low > getattr(many, name).high - getattr(many, name).low
    few, many = joint_agreement(wide), joint_agreement(narrow)
    assert few.interval.low < few.alpha < few.interval.high
    assert few.interval.high - few.interval.low > many.interval.high - many.interval.low
    assert many.interval.method == "bootstrap over dialogues"
    assert pair_agreements(wide, seed=3) == pair_agreements(wide, seed=3)


def test_lines_of_a_dialogue_are_drawn_together():
    """Ten dialogues say no more if each is counted five times over."""
    once = ("kkkrrkkkrk", "kkrrrkkrrk")
    [single] = pair_agreements(judged(*once, lines=1))
    [fivefold] = pair_agreements(judged(*("".join(v * 5 for v in by) for by in once), lines=5))
    assert fivefold.lines == 5 * single.lines
    assert fivefold.kappa == pytest.approx(single.kappa)
    assert fivefold.kappa_interval == single.kappa_interval


def test_one_dialogue_has_no_interval():
    [pair] = pair_agreements(judged("kkr", "krr"))
    assert (pair.same, pair.same_interval, pair.kappa_interval) == (2, None, None)


def test_draws_that_do_not_differ_make_no_interval():
    [pair] = pair_agreements(judged("kkkkkk", "kkrkkr"))
    assert (pair.kappa, pair.kappa_interval) == (0, None)
    assert pair_agreements(judged("kkrkkr", "kkrkkr"))[0].same_interval is None


def test_blind_choices_by_maxim():
    def choice(annotator, dialogue, chosen):
        return Decision(annotator=annotator, dialogue_id=dialogue, kind="choose", chosen=chosen,
                        shown="0" * 12)  # fmt: skip

    lines = [
        Wording(dialogue_id=key, template_id=key, maxim=key[0], wording="0", question="Q?",
                follower="F.", violator="V.")
        for key in ("a1", "a2", "b1")
    ]  # fmt: skip
    [found] = blind_choices(
        [
            choice("ann", "a1", "violator"),
            choice("ann", "a2", "follower"),
            choice("ann", "b1", "violator"),
            choice("ann", "a2", "violator"),  # a second choice is not blind
            choice("ann", "gone", "violator"),
        ],
        lines,
    )
    assert (found.right, found.chosen) == (3, 4)
    assert found.maxims == {"a": (1, 2), "b": (1, 1)}
    assert found.interval.low < 0.75 < found.interval.high
