"""How many choices another dtype turns round: on a sample, in the manifest, in the report."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from typer.testing import CliRunner

from felicity import load_study, open_participant, read_run, run
from felicity.cli import app
from felicity.errors import RunError
from felicity.precision import compare_with_float32, in_words
from felicity.report import analyse
from felicity.report.choice.words import in_words as report_words

from study_folders import ROWS, TOML, write_study


@pytest.fixture
def study(tmp_path):
    return load_study(write_study(tmp_path / "study"))


def means(found):
    rows = found.responses.select("item_id", "answer_label", "log_prob_mean").iter_rows()
    return {(item, label): mean for item, label, mean in rows}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_choices_that_turn_round_are_counted(gricean, tiny_gpt2_folder, tmp_path, dtype):
    exact = open_participant(f"hf:{tiny_gpt2_folder}")
    half = open_participant(f"hf:{tiny_gpt2_folder}", dtype=dtype)
    options = {"where": {"questioner": "Leslie", "maxim": "relation"}, "limit": 40}
    done = run(gricean, half, tmp_path / "half", **options)
    found = compare_with_float32(done, exact)
    # By another route: a whole run in float32, and its margins.
    other = means(run(gricean, exact, tmp_path / "exact", **options))
    mine = means(done)
    first, second = gricean.design.answers
    items = {item for item, _ in mine}

    def choice(table, item):
        margin = table[item, first] - table[item, second]
        return 0 if abs(margin) <= 1e-5 else margin > 0

    turned = sum(choice(mine, item) != choice(other, item) for item in items)
    assert (found.dtype, found.sampled, found.otherwise) == (dtype, len(items), turned)
    largest = max(abs(mine[key] - other[key]) for key in mine)
    assert found.largest_difference == pytest.approx(largest, abs=1e-5)
    assert largest > 1e-4
    told = json.loads((tmp_path / "half" / "run.json").read_text())["precision"]
    assert told == {
        "dtype": dtype,
        "sampled": len(items),
        "otherwise": turned,
        "largest_difference": found.largest_difference,
    }
    words = report_words(analyse([read_run(tmp_path / "half")], gricean))[0]
    assert f"It was computed in {dtype}: {turned} of {len(items)} sampled items choose" in words


def test_an_answer_that_turns_round_is_seen(study, tmp_path, tiny_gpt2_folder):
    """A run whose margins all have the other sign than the reference's."""
    exact = open_participant(f"hf:{tiny_gpt2_folder}")
    done = run(study, open_participant(f"hf:{tiny_gpt2_folder}", dtype="float16"), tmp_path / "a")
    assert compare_with_float32(done, exact).otherwise == 0
    turned = done.responses.with_columns(-done.responses["log_prob_mean"])
    found = compare_with_float32(replace(done, responses=turned), exact)
    assert found.otherwise == found.sampled == 8


def test_of_three_answers_the_one_that_wins_is_compared(tmp_path, tiny_gpt2_folder):
    three = TOML.replace('["strong", "weak"]', '["strong", "weak", "odd"]')
    rows = [row | {"odd": "Green." if row["word"] == "all" else ""} for row in ROWS]
    study = load_study(write_study(tmp_path / "study", toml=three, rows=rows))
    exact = open_participant(f"hf:{tiny_gpt2_folder}")
    done = run(study, exact, tmp_path / "run")
    assert compare_with_float32(done, exact).otherwise == 0
    # The third answer wins everywhere it stands.
    raised = pl.when(pl.col("answer_label") == "odd").then(0.0).otherwise("log_prob_mean")
    found = compare_with_float32(
        replace(done, responses=done.responses.with_columns(log_prob_mean=raised)), exact
    )
    scores = means(done)
    lost = [
        item
        for item in study.items
        if "odd" in item.answers
        and max(item.answers, key=lambda label: scores[item.item_id, label]) != "odd"
    ]
    assert (found.sampled, found.otherwise) == (8, len(lost))
    assert lost


def test_the_sample_is_evenly_spaced_and_always_the_same(study, tmp_path, tiny_gpt2_folder):
    exact = open_participant(f"hf:{tiny_gpt2_folder}")
    done = run(study, open_participant(f"hf:{tiny_gpt2_folder}", dtype="bfloat16"), tmp_path / "a")
    asked = []
    plan = type(exact).plan

    class Watched(type(exact)):
        def plan(self, pairs, names=None):
            asked.append([pair.context for pair in pairs])
            return plan(self, pairs, names)

    watched = Watched(**{name: getattr(exact, name) for name in exact.__dataclass_fields__})
    first = compare_with_float32(done, watched, sample=4)
    assert first == compare_with_float32(done, watched, sample=4)
    assert first.sampled == 4
    assert asked[0] == asked[1]
    questions = [trial.pair.context for trial in study.trials(study.format())]
    assert list(dict.fromkeys(asked[0])) == list(dict.fromkeys(questions[::4]))


def test_a_reference_of_another_kind_is_refused(study, tmp_path, tiny_gpt2_folder):
    half = open_participant(f"hf:{tiny_gpt2_folder}", dtype="bfloat16")
    done = run(study, half, tmp_path / "run")
    with pytest.raises(RunError, match="dtype: got bfloat16; expected float32"):
        compare_with_float32(done, half)
    other = open_participant(f"hf:{tiny_gpt2_folder}", prefix="none")
    with pytest.raises(RunError, match="prefix: got none; expected bos"):
        compare_with_float32(done, other)


def test_in_words():
    told = {"otherwise": 3, "sampled": 200}
    assert in_words(told) == "3 of 200 sampled items choose otherwise than in float32"


def test_the_command_says_it_and_can_be_told_not_to(tmp_path, tiny_gpt2_folder):
    write_study(tmp_path / "study")
    words = [
        "run", str(tmp_path / "study"), "--model", f"hf:{tiny_gpt2_folder}", "--dtype", "float16",
    ]  # fmt: skip
    done = CliRunner().invoke(app, [*words, "--folder", str(tmp_path / "with")])
    assert done.exit_code == 0, done.output
    assert "float16: 0 of 8 sampled items choose otherwise than in float32" in done.stderr
    words += ["--dtype-sample", "0", "--folder", str(tmp_path / "without")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "float32" not in done.stderr
    study = read_run(tmp_path / "without").study
    said = report_words(analyse([read_run(tmp_path / "without")], study))[0]
    assert "It was computed in float16, which was not compared with float32." in said
