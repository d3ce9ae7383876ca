"""Scores of other tools: read in every shape, refused where wrong, reported as what they are."""

from __future__ import annotations

import json
import math

import polars as pl
import pytest

import felicity
from felicity import import_scores, open_participant
from felicity.cli import main
from felicity.errors import FaultsError, OptionError, RunError
from felicity.report.choice.content import choice_content
from felicity.report.choice.table import main_table
from felicity.report.page.choice import score_rows

PART = {"wording": "0", "questioner": "Leslie", "responder": "Joan"}


@pytest.fixture(scope="module")
def own(tmp_path_factory, gricean, tiny_gpt2_folder):
    """A run of our own, whose scores are given back in other shapes."""
    participant = open_participant(f"hf:{tiny_gpt2_folder}")
    return felicity.run(gricean, participant, tmp_path_factory.mktemp("own") / "run", where=PART)


def long(own, **extra):
    return own.responses.select(
        "item_id", "answer_label", pl.col("log_prob_mean").alias("score"), *extra.values()
    )


def wide(own):
    return own.responses.pivot("answer_label", index="item_id", values="log_prob_mean")


def tokens(own):
    table = own.responses.select("item_id", "answer_label", "tokens", "log_probs")
    return table.explode("tokens", "log_probs").rename({"tokens": "token", "log_probs": "score"})


def texts(own):
    """Without ids: by texts and factors, with columns called otherwise."""
    return own.responses.select(
        "question", "questioner", "responder", pl.col("answer").alias("sentence"),
        (pl.col("log_prob_mean") / -math.log(2)).alias("bits"),
    )  # fmt: skip


SHAPES = {
    "long.csv": (long, {}),
    "wide.parquet": (wide, {}),
    "tokens.jsonl": (tokens, {}),
    "texts.csv": (
        texts,
        {"columns": {"answer": "sentence", "score": "bits"}, "unit": "surprisal_bits"},
    ),
}


def command(words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code


def write(table, path):
    {".csv": table.write_csv, ".parquet": table.write_parquet, ".jsonl": table.write_ndjson}[
        path.suffix
    ](path)
    return path


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_gives_the_runs_own_table(own, gricean, tmp_path, name):
    make, options = SHAPES[name]
    file = write(make(own), tmp_path / name)
    given = import_scores(gricean, file, tmp_path / "run", label=own.label, **options)
    ours = {(r["item_id"], r["answer_label"]): r for r in own.responses.iter_rows(named=True)}
    assert given.responses.height == 4500
    assert dict(given.responses["status"].value_counts().iter_rows()) == {
        "ok": 250, "not_given": 4250,
    }  # fmt: skip
    for row in given.responses.filter(pl.col("status") == "ok").iter_rows(named=True):
        mine = ours[row["item_id"], row["answer_label"]]
        assert row["log_prob_mean"] == pytest.approx(mine["log_prob_mean"], abs=1e-12)
        if make is tokens:
            assert row["log_prob_sum"] == pytest.approx(mine["log_prob_sum"], abs=1e-12)
            assert (row["tokens"], row["n_tokens"]) == (mine["tokens"], mine["n_tokens"])
    cells = [felicity.analyse([run]).participants[0].cells for run in (own, given)]
    shown = [{key: cell.accuracy for key, cell in of.items()} for of in cells]
    assert shown[0] == shown[1]
    assert cells[1]["relation"].usable == 25
    assert cells[1]["relation"].asked == 450


def test_the_report_says_that_they_come_from_elsewhere(own, gricean, tmp_path):
    file = write(long(own), tmp_path / "scores.csv")
    given = import_scores(
        gricean, file, tmp_path / "run", label="Theirs", tool="minicons 0.3.39", revision="main"
    )
    analysis = felicity.analyse([own, given])
    content = choice_content(analysis)
    assert "125 of 2250" in main_table(analysis).rows[1]
    said = content.methods
    assert "Theirs, revision main was scored by minicons 0.3.39" in said
    assert "not computed by Felicity, and prefix, dtype and dialogue format are not known" in said
    assert any("computed elsewhere, read from scores.csv" in text for text in content.cautions)
    assert "It was computed in unknown" not in " ".join(content.headline)
    assert "file:" not in content.citations
    choices = {table.title.partition(":")[0]: table for table in content.tables if "each score" in
               table.title}  # fmt: skip
    assert [row[1] for row in choices["Theirs"].rows] == ["mean"]
    assert len(choices[own.label].rows) == 4
    rows = score_rows(given, {item.item_id: n for n, item in enumerate(gricean.items)})
    assert rows["outcome"]["log_prob_mean"].count("-") == 2125
    assert set(rows["outcome"]["log_prob_sum"]) == {"-"}


def test_sums_alone_are_no_means(own, gricean, tmp_path, capsys):
    table = own.responses.select("item_id", "answer_label", score="log_prob_sum")
    file = write(table, tmp_path / "sums.csv")
    given = import_scores(gricean, file, tmp_path / "a", label="x", score="log_prob_sum")
    assert given.responses["log_prob_mean"].null_count() == 4500
    with pytest.raises(RunError, match="given as log_prob_sum and bits_per_character"):
        felicity.analyse([given])
    assert felicity.analyse([given], score="log_prob_sum").participants[0].cells["overall"].usable
    counted = own.responses.select("item_id", "answer_label", "n_tokens", score="log_prob_sum")
    file = write(counted, tmp_path / "counted.csv")
    given = import_scores(gricean, file, tmp_path / "b", label="x", score="log_prob_sum")
    known = given.responses.filter(pl.col("status") == "ok")["log_prob_mean"]
    assert sorted(known) == pytest.approx(sorted(own.responses["log_prob_mean"]), abs=1e-12)


def test_one_count_for_two_answers_is_no_count(own, gricean, tmp_path):
    table = own.responses.pivot("answer_label", index="item_id", values="log_prob_sum")
    file = write(table.with_columns(n_tokens=5), tmp_path / "wide.csv")
    run = import_scores(gricean, file, tmp_path / "run", label="x", score="log_prob_sum")
    assert run.manifest["given"]["scores"] == ["log_prob_sum", "bits_per_character"]
    assert run.responses["n_tokens"].null_count() == 4500


HEAD = "item_id,answer_label,score\n"
ONE = "quantity_1-01-1-w0-Leslie-Joan"
WRONG = {
    "nobody,follower,-1\n": 'line 2, item_id: got "nobody"; expected an item of gricean-maxims',
    f"{ONE},third,-1\n": 'answer_label: got "third"; expected one of follower, violator',
    f"{ONE},follower,-1\n{ONE},follower,-2\n": "line 3, item_id: got "
    f'"{ONE} follower"; expected each once; it stands in line 2',
    f"{ONE},follower,3.2\n": 'score: got "3.2"; expected a log-probability, 0 or less '
    "(a surprisal? --unit surprisal or surprisal_bits; a probability? take its logarithm)",
    f"{ONE},follower,much\n": 'score: got "much"; expected a number, with a point for decimals',
}


@pytest.mark.parametrize("rows", WRONG)
def test_what_cannot_be_used_is_said_and_nothing_is_written(gricean, tmp_path, rows):
    file = tmp_path / "s.csv"
    file.write_text(HEAD + rows)
    with pytest.raises(FaultsError) as caught:
        import_scores(gricean, file, tmp_path / "run", label="x")
    assert WRONG[rows] in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_all_faults_at_once(gricean, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text(HEAD + "".join(WRONG))
    with pytest.raises(FaultsError) as caught:
        import_scores(gricean, file, tmp_path / "run", label="x")
    assert len(caught.value.faults) >= len(WRONG)


def test_a_first_token_that_was_never_scored_is_no_score(gricean, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(
        f"item_id,answer_label,token,score\n{ONE},follower,On,0.0\n{ONE},follower,it,-2\n"
    )
    with pytest.raises(FaultsError, match="0 for the first token of 1 of 1 answers"):
        import_scores(gricean, file, tmp_path / "run", label="x")


def test_nan_and_nothing_keep_their_rows(gricean, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text(HEAD + f"{ONE},follower,nan\n{ONE},violator,\n")
    run = import_scores(gricean, file, tmp_path / "run", label="x")
    rows = run.responses.filter(pl.col("item_id") == ONE)
    assert rows["status"].to_list() == ["not_finite", "not_given"]
    assert rows["log_prob_mean"].to_list() == [None, None]


def test_texts_that_two_items_have_are_told(gricean, own, tmp_path):
    file = write(texts(own).drop("questioner", "responder"), tmp_path / "s.csv")
    with pytest.raises(FaultsError, match="6 have these texts"):
        import_scores(
            gricean, file, tmp_path / "run", label="x", unit="surprisal_bits",
            columns={"answer": "sentence", "score": "bits"},
        )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, '--method: got "guess"'),
        ({"unit": "bits"}, '--unit: got "bits"'),
        ({"columns": {"score": "nowhere"}}, '--column: got "nowhere"'),
        ({"columns": {"points": "score"}}, '--column: got "points"'),
    ],
)
def test_options_are_checked(gricean, tmp_path, options, message):
    file = tmp_path / "s.csv"
    file.write_text(HEAD + f"{ONE},follower,-1\n")
    with pytest.raises(OptionError) as caught:
        import_scores(gricean, file, tmp_path / "run", **({"label": "x"} | options))
    assert message in str(caught.value)


def test_the_command_makes_the_run_and_its_report(own, tmp_path, capsys):
    file = write(wide(own), tmp_path / "wide.csv")
    words = ["import-scores", "gricean-maxims", str(file), "--out", str(tmp_path / "run")]
    command([*words, "--label", "Theirs", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["statuses"] == {"not_given": 4250, "ok": 250}
    command(["report", str(tmp_path / "run"), "--out", str(tmp_path / "report")])
    assert "Theirs" in capsys.readouterr().out
    assert (tmp_path / "report" / "report.html").is_file()
