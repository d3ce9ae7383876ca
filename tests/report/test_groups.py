"""Groups: who stands where, what tables say, and published accuracies in the same tables."""

from __future__ import annotations

import numpy as np
import pytest

from felicity import analyse, load_study
from felicity.errors import FaultsError, OptionError, RunError
from felicity.report.choice.analysis import analyse_people
from felicity.report.groups.members import group_members
from felicity.report.groups.published import published_file, read_published
from felicity.report.groups.tables import (
    concordance_table,
    correlations_table,
    group_statistics,
    grouped_table,
    ranks_table,
)
from felicity.report.groups.tests import group_gains, mixed_model

from made_runs import made_run
from study_folders import write_study

# Made up, so that every figure can be worked out by hand; no paper's.
MADE_UP = {
    ("small", "A"): (0.50, 0.60, 0.70, 0.80, 0.90),
    ("small", "B"): (0.40, 0.60, 0.60, 0.80, 0.90),
    ("small", "C"): (0.30, 0.50, 0.70, 0.60, 0.80),
    ("small", "D"): (0.45, 0.55, 0.65, 0.70, 0.60),
    ("large", "A2"): (0.60, 0.60, 0.80, 0.90, 0.95),
    ("large", "B2"): (0.70, 0.50, 0.80, 0.90, 0.95),
    ("", "LLM"): (0.90, 0.90, 0.95, 1.00, 0.97),
}


# A hundred and twenty-five dialogues once each; copies would add nothing but time.
ONE_COPY = {"wording": "0", "questioner": "Leslie", "responder": "Joan"}


def write_published(path, design, rows=MADE_UP):
    lines = ["group,participant,architecture,maxim,accuracy,source"]
    for (group, name), values in rows.items():
        for key, value in zip(design.level_keys, values, strict=True):
            lines.append(f"{group},{name},Arch{name[0]},{key},{value},made up")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def grouping(gricean, tmp_path):
    rows = read_published(write_published(tmp_path / "p.csv", gricean.design), gricean.design)
    return group_members(analyse_people(gricean), (), rows)


def test_published_rows_keep_their_groups_and_stand_beside_children(gricean, grouping):
    people = analyse_people(gricean).people
    table = grouped_table(grouping, people, gricean.design)
    assert [row[:2] for row in table.rows] == [
        ("small", "A"), ("small", "B"), ("small", "C"), ("small", "D"), ("small", "average"),
        ("large", "A2"), ("large", "B2"), ("large", "average"),
        ("–", "LLM"), ("–", "Children 6–7"),
    ]  # fmt: skip
    assert table.rows[4][2:] == (".41", ".56*", ".66", ".73", ".80", ".63")
    assert table.rows[7][2:] == (".65*", ".55", ".80*", ".90*", ".95*", ".77*")
    assert table.rows[8][-1] == ".94"
    assert table.people == 1
    best = {(row, table.header[column]) for row, column in table.bold}
    assert {name for row, name in best if row == 0} == {
        "Quantity I", "Quantity II", "Quality", "Relation", "Politeness", "Overall",
    }  # fmt: skip
    assert (1, "Quantity II") in best
    assert (2, "Quality") in best
    assert not {row for row, _ in best} & {4, 7, 8, 9}


def test_ranks_and_concordance_are_those_worked_out_by_hand(gricean, grouping):
    ranks = ranks_table(grouping, gricean.design)
    assert ranks.rows[0] == ("small", "A", "1", "2", "3", "4", "5")
    assert ranks.rows[1] == ("small", "B", "1", "2.5", "2.5", "4", "5")
    assert ranks.rows[4][:4] == ("small", "mean rank", "1.00", "2.12")
    found = group_statistics(grouping, gricean.design, 0)
    w = found[0].concordance
    # Ranks: 1 2 3 4 5 / 1 2.5 2.5 4 5 / 1 2 4 3 5 / 1 2 4 5 3; sums 4, 8.5, 13.5, 16, 18.
    squares = 8**2 + 3.5**2 + 1.5**2 + 4**2 + 6**2
    assert w.w == pytest.approx(12 * squares / (16 * 120 - 4 * 6))
    assert w.w_uncorrected == pytest.approx(12 * squares / (16 * 120))
    table = concordance_table(found)
    assert table.rows[0][:3] == ("small", "4", f"{w.w:.3f}".removeprefix("0"))


def test_correlations_are_numpys_and_few_models_are_said(gricean, grouping):
    found = group_statistics(grouping, gricean.design, 0)
    small = np.array([MADE_UP["small", name] for name in "ABCD"])
    expected = np.corrcoef(small.T)
    for i in range(5):
        for j in range(i):
            assert found[0].correlations[i][j].r == pytest.approx(expected[i, j])
    table = correlations_table(found, gricean.design)
    assert [row[-1] for row in table.rows] == ["4"] * 10 + ["2"] * 10
    assert {row[2] for row in table.rows[10:]} == {"–"}
    assert "Four models say little" in table.note


def test_every_fault_of_a_published_file_is_told(gricean, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(
        "group,participant,architecture,maxim,accuracy,source\n"
        "g,A,,manner,0.5,x\ng,,,quality,57,x\ng,A,,quality,half,x\n"
        "g,B,,quality,0.5,x\ng,B,,quality,0.6,x\n"
    )
    with pytest.raises(FaultsError) as error:
        read_published(path, gricean.design)
    text = str(error.value)
    assert 'bad.csv line 2, maxim: got "manner"; expected one of quantity_1' in text
    assert 'bad.csv line 3, participant: got ""; expected a name' in text
    assert 'line 3, accuracy: got "57"; expected a number from 0 to 1' in text
    assert 'line 4, accuracy: got "half"' in text
    assert 'line 6, maxim: got "quality"; expected each level once a participant' in text
    path.write_text("group,participant,architecture,maxim,accuracy,source\ng,A,,quality,0.5,x\n")
    with pytest.raises(FaultsError, match='g/A: got "no row for quantity_1'):
        read_published(path, gricean.design)
    path.write_text("group,participant\n")
    with pytest.raises(FaultsError, match='accuracy: got "no such column"'):
        read_published(path, gricean.design)
    path.write_text("group,participant,architecture,maxim,accuracy,source\n")
    with pytest.raises(FaultsError, match='got "no row"'):
        read_published(path, gricean.design)
    with pytest.raises(RunError, match="cannot be read"):
        read_published(tmp_path / "none.csv", gricean.design)
    with pytest.raises(RunError, match=r"this study has no published\.csv"):
        published_file("social-meaning")


@pytest.fixture
def study(tmp_path):
    return load_study(write_study(tmp_path / "study"))


def test_members_are_found_by_name_or_folder_and_faults_are_told(study, tmp_path):
    runs = [
        made_run(study, tmp_path / name, lambda _: 1.0, label=label, fmt=fmt)
        for name, label, fmt in (("r1", "One", "names"), ("r2", "Two", "names"), ("r3", "Two", "x"))
    ]
    analysis = analyse(runs, study)
    found = group_members(analysis, [f"a=One,{tmp_path / 'r2'}", "b=r3"])
    assert [[m.name for m in g.members] for g in found.groups] == [
        ["One, names", "Two, names"],
        ["Two, x"],
    ]
    with pytest.raises(OptionError, match=r'got "Thre"; expected a participant of One, names \('):
        group_members(analysis, ["a=Thre"])
    with pytest.raises(OptionError, match=r'got "Two", which 2 have: .*r2.*r3'):
        group_members(analysis, ["a=Two"])
    with pytest.raises(OptionError, match='got "a" twice; expected each group once'):
        group_members(analysis, ["a=One", "a=r2"])
    with pytest.raises(OptionError, match='got "r1" in a and b; expected it in one group'):
        group_members(analysis, ["a=One", "b=r1"])
    for text in ("a", "=One", "a=,"):
        with pytest.raises(OptionError, match="expected NAME=A,B"):
            group_members(analysis, [text])


def dialogue_number(item):
    return int(item.unit.rsplit("-", 1)[-1]) + 5 * int(item.unit.split("-")[-2])


def test_gains_are_paired_by_architecture(gricean, tmp_path):
    """The second run wins all that the first wins, and ten more dialogues of relation."""
    items = gricean.select(ONE_COPY)
    weak = made_run(
        gricean, tmp_path / "weak", lambda i: 1.0 if dialogue_number(i) % 2 else -1.0,
        label="Weak", architecture="Arch", items=items,
    )  # fmt: skip
    strong = made_run(
        gricean, tmp_path / "strong",
        lambda i: 1.0 if dialogue_number(i) % 2 or i.factors["maxim"] == "relation" else -1.0,
        label="Strong", architecture="Arch", items=items,
    )  # fmt: skip
    other = made_run(
        gricean, tmp_path / "other", lambda _: 1.0, label="O", architecture="Other", items=items,
    )  # fmt: skip
    analysis = analyse([weak, strong, other], gricean)
    design = gricean.design
    grouping = group_members(analysis, ["s=Weak", "l=Strong", "o=O"])
    rows, remarks = group_gains(grouping, design, 0)
    assert [(r.first, r.second, r.architecture) for r in rows] == [("s", "l", "Arch")] * 5
    assert remarks == (
        "l and o have no architecture in common with a run in each: no gain is computed.",
    )
    gains = {row.level: row for row in rows}
    before = analysis.participants[0].cells["relation"].accuracy
    assert gains["relation"].gain.value == pytest.approx(1 - before)
    assert gains["relation"].p_holm == pytest.approx(min(1, 5 * gains["relation"].gain.p))
    assert gains["relation"].p_holm < 0.01
    assert (gains["quality"].gain.value, gains["quality"].p_holm) == (0.0, 1.0)
    model = mixed_model(analysis.participants[:2], ["Weak", "Strong"], design)
    # On what is left the two runs are the same in every dialogue: there is no finite spread.
    assert model.tests == ()
    assert "Left out for separation: Relation." in model.remarks[0]
    assert "where models agree on every dialogue" in model.remarks[0]
    alone = mixed_model(analysis.participants[:1], ["Weak"], design)
    assert alone.remarks == ("Not fitted: got 1 model; expected two or more.",)
    sure = mixed_model([analysis.participants[2]] * 2, ["a", "b"], design)
    assert sure.fit is None
    assert "separation" in sure.remarks[0]


def test_a_mixed_model_tests_level_model_and_both(gricean, tmp_path):
    """Two runs that win the same share of each level, on dialogues of their own."""
    items = gricean.select(ONE_COPY)
    runs = [
        made_run(
            gricean, tmp_path / name, lambda i, k=k: -1.0 if dialogue_number(i) % 5 == k else 1.0,
            label=name, items=items,
        )
        for k, name in enumerate(("A", "B"))
    ]  # fmt: skip
    analysis = analyse(runs, gricean)
    shares = [[c.accuracy for c in r.cells.values()] for r in analysis.participants]
    assert shares[0] == shares[1] == [0.8] * 6
    model = mixed_model(analysis.participants, ["A", "B"], gricean.design)
    assert [name for name, _ in model.tests] == ["maxim", "model", "maxim × model"]
    assert [found.df for _, found in model.tests] == [4, 1, 4]
    assert [found.chi2 for _, found in model.tests] == pytest.approx([0, 0, 0], abs=1e-4)


def test_a_small_study_is_not_fitted(study, tmp_path):
    runs = [
        made_run(study, tmp_path / n, lambda i: 1.0 if "0" in i.item_id else -1.0, label=n)
        for n in ("r1", "r2")
    ]
    model = mixed_model(analyse(runs, study).participants, ["r1", "r2"], study.design)
    assert model.remarks[0].startswith("Not fitted: Left out for fewer than 5 dialogues: All, And")
