"""Asked runs, from the study's folder to the table."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from felicity import load_study
from felicity.asked.prompts import asked_conversations
from felicity.asked.run import read_asked, reparse_asked, run_asked
from felicity.errors import FaultsError, OptionError, RunError
from felicity.participants.api import open_api
from felicity.rating.run import read_ratings
from felicity.report import analyse, write_report
from felicity.report.choice.asked import measure_orders, read_choice_run
from felicity.report.choice.files import as_json
from felicity.report.choice.table import as_csv, main_table
from felicity.report.choice.words import in_words
from felicity.runner import read_run
from felicity.types import Sampling

from asking import PROMPT, SECTION, Told, loaded, picker, write_asked
from fixtures.misbehaving_server import MisbehavingServer
from study_folders import write_study

SAMPLING = Sampling(temperature=0.0, max_tokens=30)


@pytest.fixture
def study(tmp_path):
    return loaded(tmp_path / "study")


def ask(study, say, folder, **options):
    return run_asked(study, Told(say), folder, sampling=SAMPLING, **options)


# The study's task ---------------------------------------------------------------------------


def test_the_gricean_study_is_asked_in_both_orders_and_its_data_are_as_before(gricean):
    assert gricean.data_hash == "77df9d156c9c1041d9c2f9edafec8d07"
    conversations = asked_conversations(gricean)
    assert len(conversations) == 2 * 2250
    assert len({c.turns[0].trial_id for c in conversations}) == 4500
    one, two = conversations[:2]
    item = gricean.items[0]
    assert one.turns[0].trial_id == f"{item.item_id}|asked|0"
    assert one.scale.answers == (item.answers["follower"], item.answers["violator"])
    assert two.scale.answers == (item.answers["violator"], item.answers["follower"])
    assert f'A: "{item.answers["follower"]}"\nB: "{item.answers["violator"]}"' in one.turns[0].text
    for conversation in conversations:
        text = conversation.turns[0].text
        assert "{" not in text
        assert not any(word in text for word in ("follower", "violator", "maxim"))
    names = {name for name in ("Leslie", "Joan", "Thomas") if name in one.turns[0].text}
    assert names == {item.factors["questioner"], item.factors["responder"]}


def test_a_selection_is_of_items_each_in_both_orders(study):
    chosen = asked_conversations(study, where={"word": "and"}, limit=3)
    assert len(chosen) == 6
    assert {c.repeat for c in chosen} == {0}


def test_a_study_without_a_task_cannot_be_asked(tmp_path):
    plain = load_study(write_study(tmp_path / "plain"))
    assert plain.asked is None
    with pytest.raises(OptionError, match=r"expected a section \[asked\]"):
        ask(plain, lambda _a, _b: "A", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"asked.txt"', '"no.txt"', 'no.txt, file: got "no such file"'),
        ('prompt = "asked.txt"\n', "", 'asked.prompt: got "nothing"'),
        ('["A", "B"]', '["A", "a"]', "asked.labels: got \"['A', 'a']\"; expected two different"),
        ('["A", "B"]', '["A"]', "expected two different labels"),
        ('["A", "B"]', "[]", "expected two different labels"),
        ('["A", "B"]', '["A", "B", "C"]', "expected two different labels"),
        ('["A", "B"]', '["A", 2]', "expected texts that are not empty"),
        ('["A", "B"]', '["A", "no"]', 'asked.labels: got "no"; expected letters and digits'),
        ('["A", "B"]', '["A", "Answer B"]', 'asked.labels: got "Answer B"'),
        ('labels = ["A", "B"]\n', "", 'asked.labels: got "nothing"'),
        ('"weak"', '"strange"', 'asked.pick: got "strange"; expected one of strong, weak'),
        ('["weaker", "says less"]', '["weaker", ""]', "asked.words"),
    ],
)
def test_faults_of_the_section(tmp_path, old, new, fault):
    assert old in SECTION
    found = faults(write_asked(tmp_path / "bad", section=SECTION.replace(old, new, 1)))
    assert any(fault in said for said in found), found


def test_faults_of_the_prompt_are_told_all_at_once(tmp_path):
    prompt = PROMPT.replace("{second}", "{weak}").replace("{first_label}", "A")
    section = SECTION.replace('"weak"', '"no"')
    assert faults(write_asked(tmp_path / "bad", section=section, prompt=prompt)) == [
        'study.toml, asked.pick: got "no"; expected one of strong, weak',
        'asked.txt, prompt: got "no {second}"; expected {second} in it',
        'asked.txt, prompt: got "no {first_label}"; expected {first_label} in it',
        'asked.txt, prompt: got "{weak}"; expected one of {first}, {second}, {first_label}, '
        "{second_label}, {question}, {asker}, {story}, {word}",
    ]


def faults(folder):
    with pytest.raises(FaultsError) as caught:
        load_study(folder)
    return [str(fault) for fault in caught.value.faults]


# Laws ---------------------------------------------------------------------------------------


def test_who_always_says_the_first_label_has_bias_1_accuracy_half_consistency_0(study, tmp_path):
    run = ask(study, lambda _a, _b: "A", tmp_path / "run")
    orders = measure_orders(run, 0)
    assert (orders.position_bias, orders.consistency) == (1.0, 0.0)
    assert (orders.picks, orders.pairs, orders.asked) == (16, 8, 8)
    assert set(run.items["correct"]) == {0.5}
    cells = analyse([run], study).participants[0].cells
    assert {cell.accuracy for cell in cells.values()} == {0.5}


def test_who_always_says_the_second_has_bias_0(study, tmp_path):
    orders = measure_orders(ask(study, lambda _a, _b: "Answer: B", tmp_path / "run"), 0)
    assert (orders.position_bias, orders.consistency) == (0.0, 0.0)


@pytest.mark.parametrize(("label", "accuracy"), [("weak", 1.0), ("strong", 0.0)])
def test_who_picks_by_content_is_consistent_and_unbiased(study, tmp_path, label, accuracy):
    run = ask(study, picker(study, label), tmp_path / "run")
    orders = measure_orders(run, 0)
    assert (orders.position_bias, orders.consistency) == (0.5, 1.0)
    assert set(run.trials["pick"]) == {label}
    assert set(run.items["correct"]) == {accuracy}
    cells = analyse([run], study).participants[0].cells
    assert {cell.accuracy for cell in cells.values()} == {accuracy}


def test_swapping_the_order_flips_the_place_and_not_the_pick(study, tmp_path):
    run = ask(study, picker(study, "weak"), tmp_path / "run")
    for _, pair in run.trials.group_by("item_id"):
        assert pair["place"].to_list() == ["second", "first"]
        assert pair["pick"].to_list() == ["weak", "weak"]


def test_an_answer_quoted_in_full_is_the_same_pick_as_its_label(study, tmp_path):
    texts = {item.answers["weak"] for item in study.items}
    quoted = ask(study, lambda a, b: f'"{a if a in texts else b}"', tmp_path / "quoted")
    by_label = ask(study, picker(study, "weak"), tmp_path / "label")
    columns = ["item_id", "order", "pick", "correct"]
    assert quoted.trials.select(columns).equals(by_label.trials.select(columns))


# What is unusable, resuming, reading --------------------------------------------------------


def test_what_names_no_answer_is_missing_and_not_wrong(study, tmp_path):
    weak = picker(study, "weak")
    run = ask(
        study, lambda a, b: "Both are fine." if a.startswith("All of") else weak(a, b),
        tmp_path / "run",
    )  # fmt: skip
    assert run.complete
    all_ = run.items.filter(pl.col("word") == "all")
    assert set(all_["usable"]) == {1}
    assert all_["pick_0"].null_count() == all_["same_pick"].null_count() == 4
    assert set(all_["status_0"]) == {"ambiguous"}
    assert set(all_["correct"]) == {1.0}, "of the orders that are usable"
    analysis = analyse([run], study)
    cell = analysis.participants[0].cells["all"]
    assert (cell.accuracy, cell.usable, cell.asked, cell.units) == (1.0, 4, 8, 2)
    assert "4 of 16 replies name no answer (ambiguous 4)" in in_words(analysis)[0]
    assert main_table(analysis).rows[0][-2] == "12 of 16"


def test_where_nothing_is_usable_there_is_no_number(study, tmp_path):
    run = ask(study, lambda _a, _b: "Hm.", tmp_path / "run", smoke=0)
    assert set(run.trials["status"]) == {"unparsed"}
    orders = measure_orders(run, 0)
    assert (orders.position_bias, orders.consistency, orders.picks) == (None, None, 0)
    analysis = analyse([run], study)
    assert analysis.participants[0].cells["overall"].accuracy is None
    assert "no usable" in in_words(analysis)[0]
    json.dumps(as_json(analysis), allow_nan=False)
    with pytest.raises(RunError, match="none of the first 3 replies is usable"):
        ask(study, lambda _a, _b: "Hm.", tmp_path / "two")


def test_a_run_goes_on_and_is_read_as_it_was_left(study, tmp_path):
    who = Told(picker(study, "weak"))
    run_asked(study, who, tmp_path / "run", sampling=SAMPLING, limit=2)
    assert len(who.asked) == 4
    done = run_asked(study, who, tmp_path / "run", sampling=SAMPLING)
    assert len(who.asked) == 16, "nothing is asked twice"
    assert done.complete
    read = read_asked(tmp_path / "run")
    assert read.trials.equals(done.trials)
    assert read.items.equals(done.items)
    assert read.items.equals(pl.read_parquet(tmp_path / "run" / "picks.parquet"))
    assert read.manifest["participant"]["method"] == "asked"
    assert read.manifest["format"]["labels"] == ["A", "B"]
    again = reparse_asked(tmp_path / "run")
    assert again.trials.equals(done.trials)
    assert len(who.asked) == 16


def test_kinds_of_runs_are_told_apart(study, tmp_path):
    run = ask(study, picker(study, "weak"), tmp_path / "run")
    with pytest.raises(RunError, match="run of a choice study; expected a rating run"):
        read_ratings(run.folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text('{"study": "x", "participant": {}}')
    with pytest.raises(RunError, match="not asked in words"):
        read_asked(tmp_path / "other")
    with pytest.raises(OptionError, match="method expected; expected one that replies in words"):
        run_asked(study, Told(lambda _a, _b: "A", method="expected"), tmp_path / "e",
                  sampling=SAMPLING)  # fmt: skip


def test_a_changed_task_or_changed_items_are_refused(tmp_path):
    ask(loaded(tmp_path / "study"), lambda _a, _b: "A", tmp_path / "run")
    (tmp_path / "study" / "asked.txt").write_text(PROMPT.replace("says less", "is weaker"))
    with pytest.raises(RunError, match="answered under another model, text or setting"):
        ask(load_study(tmp_path / "study"), lambda _a, _b: "A", tmp_path / "run")
    rows = (tmp_path / "study" / "items.jsonl").read_text()
    (tmp_path / "study" / "items.jsonl").write_text(rows.replace("broke", "fell"))
    with pytest.raises(RunError, match="items have changed"):
        read_asked(tmp_path / "run")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_server_that_misbehaves(study, tmp_path):
    with MisbehavingServer(reply="**B**") as server:
        who = open_api("openai-api/desk/good-model", base_url=server.url, api_key="key",
                       max_retries=0, attempt_seconds=2, max_connections=4)  # fmt: skip
        run = run_asked(study, who, tmp_path / "run", sampling=SAMPLING)
        assert len(server.requests) == 16
        run_asked(study, who, tmp_path / "run", sampling=SAMPLING)
        assert len(server.requests) == 16
    assert run.complete
    assert measure_orders(run, 0).position_bias == 0.0


@pytest.mark.parametrize(
    ("order", "status"),
    [
        ("wrong_model", "model_mismatch"),
        ("filtered", "refused"),
        ("empty", "empty"),
        ("length", "truncated"),
        ("error_body", "error"),
        ("think", "ok"),
    ],
)
def test_each_misbehaviour_has_its_status_in_the_table(tmp_path, order, status):
    folder = write_asked(tmp_path / "study", prompt=f"[{order}] {PROMPT}")
    with MisbehavingServer(reply="B") as server:
        who = open_api("openai-api/desk/good-model", base_url=server.url, api_key="key",
                       max_retries=0, attempt_seconds=2, max_connections=4)  # fmt: skip
        run = run_asked(load_study(folder), who, tmp_path / "run", sampling=SAMPLING, limit=1,
                        smoke=0)  # fmt: skip
    assert run.trials["status"].to_list() == [status, status]
    assert run.trials["pick"].null_count() == (0 if status == "ok" else 2)
    assert run.complete == (status != "error")


# The table ----------------------------------------------------------------------------------


def test_asked_runs_stand_beside_scored_ones(study, tmp_path):
    from report.test_report import made_run

    asked = ask(study, lambda _a, _b: "A", tmp_path / "asked")
    scored = made_run(study, tmp_path / "scored", lambda _: 1.0)
    analysis = analyse([scored, read_choice_run(asked.folder)], study)
    table = main_table(analysis, intervals=False)
    assert table.rows[0][:6] == ("A model", "names", "1.00", "1.00", "1.00", "8 of 8")
    assert table.rows[1][:6] == ("told", "asked", ".50", ".50", ".50", "16 of 16")
    assert "strictly higher log_prob_mean; for format asked" in table.note
    assert "point out the weak" in table.note
    words = in_words(analysis)
    assert "Position bias: it picks the answer shown first in 1.00" in words[1]
    assert "in .00 of the 8 items usable in both orders it picks the same answer" in words[1]
    assert "Position bias" not in words[0]
    plain = as_json(analysis)["participants"]
    assert plain[0]["orders"] is None
    assert plain[1]["orders"]["position_bias"] == 1.0
    assert plain[1]["variants"]["shown_first"] == {
        "strong": {"all": 0.0, "and": 0.0}, "weak": {"all": 1.0, "and": 1.0},
    }  # fmt: skip
    assert "told,model,asked,asked,pick,all,0.5" in as_csv(analysis)
    assert len(write_report(analysis, tmp_path / "report")) == 4


def test_a_run_by_log_probability_is_read_as_before(study, tmp_path):
    with pytest.raises(RunError, match=r"no run\.json"):
        read_choice_run(tmp_path)
    run = ask(study, lambda _a, _b: "A", tmp_path / "run")
    with pytest.raises(RunError):
        read_run(run.folder)


def test_dialogues_are_the_unit(study, tmp_path):
    """16 replies are of four stories: two of a level cannot be above chance."""
    run = ask(study, picker(study, "weak"), tmp_path / "run")
    cell = analyse([run], study).participants[0].cells["all"]
    assert (cell.units, cell.usable) == (2, 8)
    assert cell.p_chance > 0.05


def test_felicity_report_prints_an_asked_run(study, tmp_path):
    from felicity.cli import app

    run = ask(study, lambda _a, _b: "A", tmp_path / "run")
    done = CliRunner().invoke(app, ["report", str(run.folder), "--json"])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert printed["participants"][0]["orders"]["consistency"] == 0.0
    assert (run.folder / "report" / "table.tex").is_file()
    shown = CliRunner().invoke(app, ["report", str(run.folder)])
    assert "Position bias" in shown.stdout
