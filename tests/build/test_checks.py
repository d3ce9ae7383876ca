"""Each check finds the fault that was planted, where it was planted, and nothing else."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from felicity.build.checks import run_checks, write_checks
from felicity.build.checks.design import patterns
from felicity.build.checks.surprisal import outliers
from felicity.build.checks.table import problems_of
from felicity.build.folder import read_build
from felicity.checks import cue_table
from felicity.errors import FelicityError, RunError

from building import grown, rewrite, start

# What the committed set has by nature: small, and with a pair of answers that share no word.
NATURAL = {"cue", "shared words"}
ALL = (
    *("balance of maxims", "balance of templates", "balance of wordings", "same answers"),
    *("same names", "duplicates", "rewordings", "length difference", "shared words"),
    *("vocabulary", "placeholders", "punctuation", "doubled words", "names in texts"),
    *("names as words", "base and template", "template followed"),
)


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("sets") / "set")


def flagged(build, *, but=()):
    """Check to places, without what the committed set has by nature."""
    found = {r.name: {(v.unit, v.wording) for v in r.flagged} for r in run_checks(build)}
    return {k: v for k, v in found.items() if v and k.partition(":")[0] not in {*NATURAL, *but}}


def with_texts(build, dialogue_id, wording="0", **texts):
    lines = tuple(
        replace(line, **texts)
        if (line.dialogue_id, line.wording) == (dialogue_id, wording)
        else line
        for line in build.wordings
    )
    return replace(build, wordings=lines)


def test_the_built_in_set_has_no_fault_but_loose_templates():
    results = {result.name: result for result in run_checks(read_build("gricean-maxims"))}
    assert set(ALL) < set(results)
    assert {name: len(r.flagged) for name, r in results.items() if r.flagged} == {
        "base and template": 8,
        "template followed": 1,
    }


def test_the_cues_are_those_of_the_study(gricean):
    results = {result.name: result for result in run_checks(read_build("gricean-maxims"))}
    for rule, by_level in cue_table(gricean).items():
        for level, score in by_level.items():
            assert results[f"cue: {rule}"].of(level) == pytest.approx(score.share)


def test_the_committed_set_is_clean(committed):
    assert flagged(committed) == {}


@pytest.mark.parametrize(
    ("where", "texts", "check"),
    [
        ("quality-01-2", {"question": "What did you put in your {thing}?"}, "placeholders"),
        ("quality-01-2", {"question": "What did [NAME] put in your bag?"}, "placeholders"),
        ("quality-01-2", {"question": "What did you put in your ____?"}, "placeholders"),
        ("quality-01-2", {"question": "What did you put in your bag"}, "punctuation"),
        ("quality-01-2", {"question": "what did you put in your bag?"}, "punctuation"),
        ("quality-01-2", {"question": "What did you put in your bag ?"}, "punctuation"),
        ("quality-01-2", {"question": "What did you put in your bag??"}, "punctuation"),
        ("quality-01-2", {"question": "Question: What did you put in your bag?"}, "punctuation"),
        ("quality-01-2", {"question": "What did you put in your “bag?"}, "punctuation"),
        ("quality-01-2", {"question": "What did you put put in your bag?"}, "doubled words"),
        ("quality-01-2", {"question": "What did Joan put in your bag?"}, "names in texts"),
        ("quality-01-2", {"question": "What did you put in your receptacle?"}, "vocabulary"),
        ("quality-01-2", {"question": "What did you put in your zwolk?"}, "vocabulary"),
    ],
)  # fmt: skip
def test_a_planted_fault_of_a_text(committed, where, texts, check):
    found = flagged(with_texts(committed, where, **texts), but={"rewordings"})
    assert found == {check: {(where, "0")}}


def test_answers_that_change_with_the_wording(committed):
    build = with_texts(committed, "quality-01-2", "2", violator="I put in a lake and a hill.")
    assert flagged(build) == {"same answers": {("quality-01-2", "2")}}


def test_a_speaker_that_one_answer_names(committed):
    build = committed
    for wording in ("0", "1", "2"):
        build = with_texts(build, "politeness-01-2", wording,
                           violator="Sure, I am done with it now, {questioner}.")  # fmt: skip
    assert flagged(build) == {"same names": {("politeness-01-2", "0")}}


def test_lengths_that_give_the_answer_away(committed):
    text = "I put in a house and a hill and a street and all of the water of the sea."
    build = committed
    for wording in ("0", "1", "2"):
        build = with_texts(build, "quality-01-2", wording, violator=text)
    assert flagged(build) == {"length difference": {("quality-01-2", "0")}}


def test_rewordings_too_close_and_too_far(committed):
    close = with_texts(committed, "quality-01-2", "1", question="What did you put in your bags?")
    assert flagged(close) == {"rewordings": {("quality-01-2", "1")}}
    far = with_texts(committed, "quality-01-2", "2", question="How are you?")
    assert flagged(far) == {"rewordings": {("quality-01-2", "2")}}
    twins = with_texts(committed, "quality-01-2", "2", question="What have you put in your bag?")
    assert flagged(twins) == {"rewordings": {("quality-01-2", "2")}}


def test_dialogues_that_are_nearly_the_same(committed):
    line = next(x for x in committed.originals if x.dialogue_id == "quality-01-2")
    build = with_texts(
        committed, "quality-01-3", **line.texts | {"question": "What did you put in a bag?"}
    )
    found = flagged(build, but={"rewordings", "same answers"})
    assert found == {"duplicates": {("quality-01-2", "0"), ("quality-01-3", "0")}}


def test_a_set_out_of_balance(committed):
    lines = [x for x in committed.wordings if (x.dialogue_id, x.wording) != ("quality-01-4", "2")]
    assert flagged(replace(committed, wordings=tuple(lines))) == {
        "balance of wordings": {("quality-01-4", "")}
    }
    lines = [x for x in committed.wordings if x.dialogue_id != "quality-01-4"]
    assert flagged(replace(committed, wordings=tuple(lines))) == {
        "balance of maxims": {("quality", "")},
        "balance of templates": {("quality-01", "")},
    }


def test_names_that_are_words(committed):
    names = ("Will", "Joan", "Bus")
    build = replace(committed, plan=replace(committed.plan, names=names))
    assert flagged(build, but={"names in texts"}) == {"names as words": {("Will", ""), ("Bus", "")}}


def test_a_template_that_does_not_give_its_base(committed):
    build = with_texts(committed, "quality-01-1", violator="They are two red clouds.")
    assert [v.unit for v in patterns(build).flagged] == ["quality-01"]


def test_a_dialogue_that_has_nothing_of_its_template(committed):
    other = with_texts(
        committed,
        "quantity_1-01-2",
        question="How many children did you father?",
        follower="You did your father.",
        violator="You did your mother.",
    )
    found = {r.name: r for r in run_checks(other)}["template followed"]
    assert [(v.unit, v.problem) for v in found.flagged] == [
        ("quantity_1-01-2", "2 of 11 words of quantity_1-01")
    ]


def test_a_cue_is_flagged_with_the_answer_that_it_picks(committed):
    results = {result.name: result for result in run_checks(committed)}
    found = {v.maxim: v.problem for v in results["cue: longer (characters)"].flagged}
    assert found["quantity_2"] == "this rule alone picks the follower in 1.00"
    assert found["quality"] == "this rule alone picks the violator in 0.80"
    assert "relation" not in found


def test_tables_and_what_was_found_of_a_dialogue(committed, tmp_path):
    build = with_texts(committed, "quality-01-2", question="What did you put in your {thing}")
    results = run_checks(build)
    checks, findings = write_checks(tmp_path, results, build.plan.maxim_keys)
    with checks.open(encoding="utf-8") as file:
        rows = {row["check"]: row for row in csv.DictReader(file)}
    assert (rows["placeholders"]["flagged"], rows["placeholders"]["of"]) == ("1", "75")
    assert float(rows["placeholders"]["quality"]) == pytest.approx(1 / 15, abs=1e-4)
    with findings.open(encoding="utf-8") as file:
        found = [row["check"] for row in csv.DictReader(file) if row["unit"] == "quality-01-2"]
    assert found == [r.name for r, _ in problems_of(results)["quality-01-2"]]
    assert {"placeholders", "punctuation"} <= set(found)


def test_answers_of_outlying_surprisal_are_listed(committed, tmp_path, tiny_gpt2_folder):
    """A tiny random model cannot tell; bits are written into the run, so that the law is seen."""
    import polars as pl

    from felicity import open_participant, run
    from felicity.build import checks
    from felicity.build.export import export_study
    from felicity.study import load_choice_study

    export_study(committed.folder, tmp_path / "study")
    study = load_choice_study(str(tmp_path / "study"))
    participant = open_participant(f"hf:{tiny_gpt2_folder}")
    where = {"questioner": "Joan", "responder": "Leslie", "wording": "0"}
    ran = run(study, participant, tmp_path / "run", where=where)
    result = outliers(committed, tmp_path / "run")
    assert len(result.values) == 50
    bits = dict(
        ran.responses.filter(pl.col("answer_label") == "follower")
        .select("dialogue_id", "bits_per_character")
        .iter_rows()
    )
    followers = {v.unit: v.figure for v in result.values[:25]}
    assert followers == pytest.approx(bits)
    assert checks.surprisal.modified_z([*range(1, 25), 1000.0])[-1] > checks.surprisal.OUTLIER
    # The built-in set has dialogues of the same names, but they are others.
    with pytest.raises(RunError, match="no dialogue of this set was run"):
        outliers(read_build("gricean-maxims"), tmp_path / "run")
    changed = with_texts(committed, "quality-01-2", violator="I put in a boat.")
    assert len(outliers(changed, tmp_path / "run").values) == 49


def test_there_is_nothing_to_check(tmp_path):
    build = start(tmp_path / "set")
    with pytest.raises(FelicityError, match="there is no dialogue yet"):
        run_checks(replace(build, wordings=()))


def test_rewrite_of_a_folder_is_read_again(tmp_path):
    build = rewrite(grown(tmp_path / "set"), quality_01_2__0={"question": "What is {x}?"})
    assert flagged(build, but={"rewordings"}) == {"placeholders": {("quality-01-2", "0")}}
