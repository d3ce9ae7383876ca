"""Choice studies of more than two answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from felicity import analyse, load_study, open_participant, read_run, run
from felicity.checks import cue_table
from felicity.cli import main
from felicity.errors import FaultsError
from felicity.journal import Journal
from felicity.report.choice.content import choice_content
from felicity.report.choice.table import main_table
from felicity.report.choice.words import in_words
from felicity.report.groups.members import group_members
from felicity.report.groups.tables import ranks_table
from felicity.report.page.choice import choice_items, score_rows
from felicity.stats.accuracy import count_wins
from felicity.stats.compare import p_against_share
from felicity.stats.cues import RULES, cue_score
from felicity.stats.curves import find_onset

from made_runs import made_run
from study_folders import ROWS, TOML, write_study

THREE = TOML.replace('["strong", "weak"]', '["strong", "weak", "odd"]')
ODD = [row | {"odd": "Green." if row["word"] == "all" else ""} for row in ROWS]


def faults(folder):
    with pytest.raises(FaultsError) as caught:
        load_study(folder)
    return [str(fault) for fault in caught.value.faults]


@pytest.fixture(scope="module")
def done(tmp_path_factory, tiny_gpt2_folder):
    folder = tmp_path_factory.mktemp("three")
    study = load_study(write_study(folder / "study", toml=THREE, rows=ODD))
    return run(study, open_participant(f"hf:{tiny_gpt2_folder}"), folder / "run")


def test_an_item_may_lack_an_answer_but_not_the_first(tmp_path):
    study = load_study(write_study(tmp_path / "good", toml=THREE, rows=ODD))
    assert [len(item.answers) for item in study.items] == [3] * 4 + [2] * 4
    cases = [
        ({"strong": ""}, 'line 1, strong: got ""; expected a text that is not empty'),
        ({"weak": "", "odd": ""}, 'line 1, answers: got "strong alone"; expected two answers'),
        ({"odd": ROWS[0]["weak"]}, "expected a text other than the weak's"),
    ]
    for change, message in cases:
        rows = [ODD[0] | change, *ODD[1:]]
        found = faults(write_study(tmp_path / "bad", toml=THREE, rows=rows))
        assert any(message in fault for fault in found), found


def test_more_than_two_answers_cannot_be_asked_in_words(tmp_path):
    asked = '[asked]\nprompt = "a.txt"\nlabels = ["A", "B"]\npick = "odd"\n'
    found = faults(write_study(tmp_path / "s", toml=THREE + asked, rows=ODD))
    assert 'study.toml, asked: got "3 answers"; expected two, to be asked in words' in found


def test_the_first_answer_wins_over_the_best_of_the_others(done):
    assert done.complete
    assert done.responses.height == 4 * 3 + 4 * 2
    result = analyse([done], done.study).participants[0]
    margins = dict(zip(result.margins["item_id"], result.margins["margin"], strict=True))
    scores = {
        (row["item_id"], row["answer_label"]): row["log_prob_mean"]
        for row in done.responses.iter_rows(named=True)
    }
    for item in done.study.items:
        first, *others = (scores[item.item_id, label] for label in item.answers)
        assert margins[item.item_id] == pytest.approx(first - max(others))
    assert result.cells["all"].chance == pytest.approx(1 / 3)
    assert result.cells["and"].chance == 0.5
    assert result.cells["overall"].chance == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_chance_is_that_of_the_usable_items(done):
    """Of a level with items of three and of two answers those of three are lost."""
    alike = done.responses.with_columns(word=pl.lit("all"))
    items = tuple(
        replace(item, factors={**item.factors, "word": "all"}) for item in done.study.items
    )
    study = replace(done.study, items=items)
    whole = replace(done, study=study, responses=alike)
    three = alike.filter(pl.col("answer_label") == "odd")["item_id"].implode()
    score = pl.col("log_prob_mean")
    lost = alike.with_columns(
        pl.when(pl.col("item_id").is_in(three)).then(None).otherwise(score).alias("log_prob_mean")
    )
    cells = [
        analyse([run], study).participants[0].cells["all"]
        for run in (whole, replace(whole, responses=lost))
    ]
    assert cells[0].chance == pytest.approx((4 / 3 + 4 / 2) / 8)
    assert (cells[1].usable, cells[1].asked, cells[1].chance) == (4, 8, 0.5)


def test_ranks_say_where_chance_differs(done, tmp_path):
    again = replace(done, folder=tmp_path)
    analysis = analyse([done, again], done.study)
    grouping = group_members(analysis, [f"g={done.folder},{tmp_path}"])
    table = ranks_table(grouping, done.study.design)
    assert "Chance is .33 to .50 by level: models that only guess agree" in table.note


def test_an_item_counts_only_where_every_answer_has_a_score(done, tmp_path):
    kept = [r for r in Journal(done.folder / "journal.sqlite") if r.trial_id != "all-0-Ann|odd"]
    for name in ("run.json",):
        (tmp_path / name).write_bytes((done.folder / name).read_bytes())
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.add(kept)
    part = read_run(tmp_path, done.study)
    result = analyse([part], done.study).participants[0]
    margins = dict(zip(result.margins["item_id"], result.margins["margin"], strict=True))
    assert margins["all-0-Ann"] is None
    assert (result.cells["all"].usable, result.cells["all"].asked) == (3, 4)


def test_the_report_names_chance_and_the_test(done):
    analysis = analyse([done], done.study)
    assert "chance is .33 to .50 by level." in main_table(analysis).note
    assert "dialogues drawn as won or lost whole by chance, Holm" in in_words(analysis)[0]


def test_the_whole_report_is_right_for_items_of_two_and_of_three_answers(done):
    analysis = analyse([done], done.study)
    content = choice_content(analysis)
    notes = {table.name: table.note for table in content.tables}
    assert "the strong's score minus the best other answer's" in notes["margins"]
    # The logistic function of a margin is no probability among three answers.
    assert "calibration" not in notes
    assert "a question with up to 3 answers, of which the strong should win" in content.methods
    captions = {figure.name: figure.caption for figure in content.figures}
    assert "is chance." not in captions["choices_1"]
    assert "the strong's log_prob_mean minus the best other answer's" in captions["margins_1"]


def test_it_cannot_be_put_to_people_as_a_survey(done, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["survey", "make", str(done.study.folder), "--out", str(tmp_path / "s")])
    said = " ".join(capsys.readouterr().err.split())
    assert "got a study of 3 answers; expected 2, which is what the page shows" in said
    assert not (tmp_path / "s").exists()


def test_an_overall_interval_holds_its_estimate(gricean, tmp_path):
    one_copy = gricean.select({"wording": "0", "questioner": "Leslie", "responder": "Joan"})
    for name, margin, accuracy in (("all", 1.0, 1.0), ("none", -1.0, 0.0)):
        made = made_run(gricean, tmp_path / name, lambda _, m=margin: m, items=one_copy)
        overall = analyse([made], gricean).participants[0].cells["overall"]
        assert overall.accuracy == accuracy
        assert accuracy in (overall.interval.low, overall.interval.high)


def test_the_page_counts_as_the_tables_do(done):
    result = analyse([done], done.study).participants[0]
    items = choice_items(done.study.items, done.study.design.answers)
    places = {item_id: place for place, item_id in enumerate(items["id"])}
    rows = score_rows(done, places)
    odd = items["answers"]["odd"]
    assert [odd["levels"][code] for code in odd["codes"]] == ["Green."] * 4 + [None] * 4
    shown = dict(zip(rows["item"], rows["margin"]["log_prob_mean"], strict=True))
    for item_id, margin in zip(result.margins["item_id"], result.margins["margin"], strict=True):
        assert shown[places[item_id]] == pytest.approx(margin, abs=5e-5)
    won = [margin > 0 for margin in result.margins["margin"]]
    letters = dict(zip(rows["item"], rows["outcome"]["log_prob_mean"], strict=True))
    assert [letters[places[i]] == "r" for i in result.margins["item_id"]] == won
    assert rows["sides"]["odd"]["status"]["levels"] == ["ok", "not_run"]


def test_the_page_has_the_tables_tie(gricean, tmp_path):
    made = made_run(gricean, tmp_path / "r", lambda _: 4e-6, items=gricean.items[:3])
    rows = score_rows(made, {item.item_id: n for n, item in enumerate(gricean.items)})
    assert rows["outcome"]["log_prob_mean"] == "ttt"
    assert analyse([made], gricean).participants[0].cells["overall"].ties == 3


def test_a_checkpoint_is_above_the_chance_of_its_items():
    p = [0.001, 0.001]
    assert find_onset([0.45, 0.4], p).above == (False, False)
    assert find_onset([0.45, 0.3], p, [1 / 3, 1 / 3]).above == (True, False)


@pytest.mark.parametrize("chance", [0.2, 1 / 3, 0.7])
@pytest.mark.parametrize("won", [0, 3, 9, 12])
def test_the_p_value_is_the_binomials_where_each_unit_is_one_item(chance, won):
    counts = count_wins(np.repeat([1.0, -1.0], [won, 12 - won]), np.arange(12).astype(str))
    k = np.arange(13)
    far = np.abs(k / 12 - chance) >= abs(won / 12 - chance) - 1e-12
    exact = float(stats.binom.pmf(k, 12, chance)[far].sum())
    assert p_against_share(counts, chance, np.random.default_rng(1)) == pytest.approx(
        exact, abs=0.015
    )


def test_items_of_one_unit_add_nothing_to_the_evidence():
    few = count_wins(np.ones(4), np.array(list("abcd")))
    many = count_wins(np.ones(40), np.array(list("abcd") * 10))
    p = [p_against_share(c, 1 / 3, np.random.default_rng(0)) for c in (few, many)]
    assert p[0] == p[1]
    assert p_against_share(count_wins(np.ones(9), np.array(["a"] * 9)), 0.2,
                           np.random.default_rng(0)) == 1.0  # fmt: skip


def test_a_blind_rules_tie_is_a_draw_among_those_tied(done):
    longer = RULES["longer (characters)"]
    texts = [("?", "four", "four", "four"), ("?", "longest", "long", "longest"), ("?", "a", "bb")]
    assert cue_score(texts, longer).share == pytest.approx((1 / 3 + 1 / 2 + 0) / 3)
    assert cue_score(texts, longer).ties == 2
    assert cue_table(done.study)["longer (characters)"]["all"].items == 4
