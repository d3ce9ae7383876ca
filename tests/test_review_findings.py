"""Faults that a reviewer found, each with its right behaviour."""

from __future__ import annotations

import threading

import pytest

from felicity import analyse, load_study, open_participant, run
from felicity.asked.parse import parse_choice
from felicity.checks import cue_table
from felicity.cli.options import parse_where
from felicity.errors import FaultsError, ModelError, OptionError, RunError
from felicity.participants import participant_from_model
from felicity.participants.fingerprint import weights_fingerprint
from felicity.report.choice.words import in_words
from felicity.types import TextPair

import tiny
from study_folders import ROWS, TOML, write_study


def faults(folder) -> str:
    with pytest.raises(FaultsError) as caught:
        load_study(folder)
    return str(caught.value)


@pytest.mark.parametrize("column", ["unit", "item_id", "margin", "status", "answer"])
def test_a_column_with_a_name_of_ours_is_refused(tmp_path, column):
    rows = [row | {column: "x"} for row in ROWS]
    assert "another name: responses have this one" in faults(write_study(tmp_path / "s", rows=rows))


def test_a_csv_line_with_a_field_too_many_is_a_fault(tmp_path):
    folder = write_study(tmp_path / "s", toml=TOML.replace("items.jsonl", "items.csv"))
    header = list(ROWS[0])
    lines = [",".join(header), *(",".join(f'"{row[c]}"' for c in header) for row in ROWS)]
    lines[1] = lines[1].replace('"How many', "Well, how many").replace('broke?"', "broke?")
    (folder / "items.csv").write_text("\n".join(lines), encoding="utf-8")
    assert 'items.csv line 2, line: got "7 fields"; expected 6, as in the header' in faults(folder)


def test_rows_with_other_columns_are_a_fault(tmp_path):
    rows = [*ROWS[:-1], ROWS[-1] | {"note": "x"}]
    assert "the same columns in every row" in faults(write_study(tmp_path / "s", rows=rows))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('variants = [["asker"]]', 'variants = ["asker"]'), "a list of lists of columns"),
        (
            ('variants = [["asker"]]', 'variants = [["asker"]]\nitems_per_level = "4"'),
            "whole number",
        ),
        (('key = "and"', 'key = "all"'), "each key once"),
        (("[reference]", "[refrence]"), "study.toml, refrence: got"),
        (('baseline = ""', 'basline = ""'), "formats.story.basline"),
        (('key = "and"', 'key = "none"'), 'got "no item of none"'),
    ],
)
def test_what_would_be_ignored_in_study_toml_is_a_fault(tmp_path, change, expected):
    assert change[0] in TOML
    assert expected in faults(write_study(tmp_path / "s", toml=TOML.replace(*change)))


def test_the_same_weights_under_another_configuration_are_another_model():
    size = len(tiny.tokenizer("metaspace"))
    plain, other = tiny.llama(size), tiny.llama(size)
    assert weights_fingerprint(plain) == weights_fingerprint(other)
    other.config.rope_parameters = {"rope_type": "default", "rope_theta": 3.0}
    assert weights_fingerprint(plain) != weights_fingerprint(other)


def test_a_second_selection_that_broke_off_is_not_complete(tmp_path, tiny_gpt2_folder, monkeypatch):
    study = load_study(write_study(tmp_path / "s"))
    participant = open_participant(f"hf:{tiny_gpt2_folder}", batch_tokens=1)
    assert run(study, participant, tmp_path / "r", where={"word": "all"}).complete
    calls = []
    original = type(participant).score

    def breaks(self, plan, batch):
        calls.append(batch)
        if len(calls) > 10:
            raise KeyboardInterrupt
        return original(self, plan, batch)

    monkeypatch.setattr(type(participant), "score", breaks)
    with pytest.raises(KeyboardInterrupt):
        run(study, participant, tmp_path / "r", where={"word": "and"})
    from felicity import read_run

    found = read_run(tmp_path / "r")
    assert found.asked == 16
    assert not found.complete


def test_two_models_at_once_never_share_a_folder(tmp_path):
    study = load_study(write_study(tmp_path / "s"))
    tokenizer = tiny.tokenizer("bytelevel")
    models = [
        participant_from_model(
            tiny.gpt2(len(tokenizer), seed=seed), tokenizer, spec=str(seed), method="logprob"
        )
        for seed in (0, 1)
    ]
    barrier, outcomes = threading.Barrier(2), []

    def go(participant):
        barrier.wait()
        try:
            outcomes.append(run(study, participant, tmp_path / "r").responses.height)
        except RunError:
            outcomes.append("refused")

    threads = [threading.Thread(target=go, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "refused" in outcomes
    assert set(outcomes) <= {16, "refused"}


def test_bits_per_character_count_what_was_scored(tmp_path, tiny_gpt2_folder, gricean):
    participant = open_participant(f"hf:{tiny_gpt2_folder}")
    done = run(gricean, participant, tmp_path / "r", format="named-answer", limit=1)
    row = done.responses.row(0, named=True)
    assert row["n_characters"] == len(f"{row['responder']}: {row['answer']}")


def test_runs_of_parts_in_two_formats_have_a_report(tmp_path, tiny_gpt2_folder, gricean):
    participant = open_participant(f"hf:{tiny_gpt2_folder}")
    runs = [
        run(gricean, participant, tmp_path / name, format=name, limit=6)
        for name in ("names", "plain")
    ]
    assert "Quantity I" in in_words(analyse(runs, gricean))[-1]
    with pytest.raises(RunError, match="given twice"):
        analyse([runs[0], runs[0]], gricean)


def test_overall_is_compared_with_the_mean_of_peoples_levels(tmp_path, tiny_gpt2_folder):
    folder = write_study(tmp_path / "s")
    (folder / "reference.csv").write_text(
        "group,word,correct,asked,source\nAdults,all,10,20,x\nAdults,and,200,200,x\n"
    )
    study = load_study(folder)
    done = run(study, open_participant(f"hf:{tiny_gpt2_folder}"), tmp_path / "r")
    overall = analyse([done], study).participants[0].cells["overall"]
    assert overall.against["Adults"].value == pytest.approx(overall.accuracy - 0.75)


def test_a_tokenizer_larger_than_the_model_is_refused():
    tokenizer = tiny.tokenizer("bytelevel")
    with pytest.raises(ModelError, match="the model knows ids below 40"):
        participant_from_model(tiny.gpt2(40), tokenizer, spec="x", method="logprob")


def test_within_word_needs_words():
    from tokenizers import pre_tokenizers

    tokenizer = tiny.tokenizer("roberta")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    model = tiny.roberta(len(tokenizer))
    with pytest.raises(ModelError, match="does not tell words apart"):
        participant_from_model(model, tokenizer, spec="x", method="pll_within_word_l2r")
    participant = participant_from_model(model, tokenizer, spec="x", method="pll_original")
    assert participant.plan([TextPair(context="a", answer=" b")]).encoded


@pytest.mark.parametrize(
    "reply",
    [
        "A. Actually, B.",
        "I'd go with A... wait, actually B",
        "A... no, B",
        "Answer: A\nCorrection: B",
        "I'd pick A. On second thought, B.",
        "First I'd say A, then B",
    ],
)
def test_an_asked_answer_that_is_taken_back_is_not_taken(reply):
    from felicity.types import Choice

    shown = Choice(labels=("A", "B"), answers=("At noon.", "Shut up."), words=("silly",))
    assert parse_choice(reply, "stop", shown).value in (None, 1)


def test_a_language_without_word_frequencies_has_one_cue_less(tmp_path):
    for language in ("et", "ja", "english"):
        toml = TOML.replace('language = "en"', f'language = "{language}"')
        study = load_study(write_study(tmp_path / language, toml=toml))
        assert "more frequent words" not in cue_table(study)


def test_two_levels_of_one_factor_are_refused():
    with pytest.raises(OptionError, match='got "a" and "b" of x'):
        parse_where(["x=a", "x=b"])
