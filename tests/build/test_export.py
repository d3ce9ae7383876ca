"""From a set to a study: byte for byte, valid, runnable, and true about itself."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import shutil

import pytest

from felicity.build.adding import NewSet, start_build
from felicity.build.checks import run_checks
from felicity.build.decisions import DECISIONS, Decision, DecisionStore
from felicity.build.export import export_study
from felicity.build.folder import read_build
from felicity.build.outcome import shown_digest
from felicity.build.template import heading, render_templates
from felicity.build.wording import Made
from felicity.errors import FelicityError, OptionError
from felicity.study import BUILT_IN, load_study

from building import grown, start

BUILT_IN_SET = BUILT_IN / "gricean-maxims"


def test_the_built_in_study_is_exported_byte_for_byte(tmp_path, gricean):
    done = export_study("gricean-maxims", tmp_path / "copy")
    for path in BUILT_IN_SET.iterdir():
        if path.name != "build.toml":
            assert (tmp_path / "copy" / path.name).read_bytes() == path.read_bytes(), path.name
    copy = load_study(tmp_path / "copy")
    assert done.items == len(copy.items) == 2250
    assert copy.items == gricean.items
    assert copy.data_hash == gricean.data_hash


def test_lines_in_any_order_and_with_makers_give_the_same_bytes(tmp_path):
    """The export sorts, strips and writes: it does not copy the file that it reads."""
    shutil.copytree(BUILT_IN_SET, tmp_path / "set")
    source = tmp_path / "set" / "dialogues.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    made = Made(by="Ann", kind="person", on="2026-01-02").as_row()
    for number, row in enumerate(rows):
        row |= {"made": made} if number % 2 else {}
    random.Random(1).shuffle(rows)
    backwards = [dict(reversed(row.items())) for row in rows]
    text = "\n\n".join(json.dumps(row) for row in backwards)
    source.write_text(text, encoding="utf-8")
    templates = tmp_path / "set" / "templates.toml"
    entries = list(reversed(read_build("gricean-maxims").templates))
    head = heading(templates.read_text(encoding="utf-8"))
    templates.write_text(head + render_templates(entries), encoding="utf-8")
    export_study(tmp_path / "set", tmp_path / "copy")
    for name in ("dialogues.jsonl", "templates.toml"):
        assert (tmp_path / "copy" / name).read_bytes() == (BUILT_IN_SET / name).read_bytes()
    provenance = (tmp_path / "copy" / "provenance.jsonl").read_text(encoding="utf-8")
    by = [json.loads(line)["made"]["by"] for line in provenance.splitlines()]
    assert by.count("Ann") == 187
    assert len(by) == 400


def test_a_grown_set_is_a_valid_study_that_runs(tmp_path, tiny_gpt2_folder):
    from felicity import open_participant, run

    build = grown(tmp_path / "set")
    done = export_study(tmp_path / "set", tmp_path / "study")
    study = load_study(tmp_path / "study")
    assert (done.dialogues, len(study.items)) == (25, 25 * 3 * 6)
    assert study.asked is not None
    assert study.design.items_per_level == 90
    participant = open_participant(f"hf:{tiny_gpt2_folder}")
    ran = run(study, participant, tmp_path / "run", limit=2)
    assert ran.responses.height == 4
    assert [t.template_id for t in build.templates] != sorted(
        t.template_id for t in build.templates
    )
    order = [line for line in (tmp_path / "study" / "templates.toml").read_text().splitlines()
             if line.startswith("id =")]  # fmt: skip
    assert [line.split('"')[1].rpartition("-")[0] for line in order] == [
        "quantity_1", "quantity_2", "quality", "relation", "politeness"
    ]  # fmt: skip


def test_the_datasheet_and_the_rows_beside_it_say_who_made_what(tmp_path):
    grown(tmp_path / "set")
    export_study(tmp_path / "set", tmp_path / "study")
    sheet = (tmp_path / "study" / "README.md").read_text(encoding="utf-8")
    assert "| dialogues | T. Author | a person | 5 |" in sheet
    assert "| rewordings | replay:replies | a model | 50 |" in sheet
    assert "| replay:replies | no_json | 1 |" in sheet
    assert "Nobody has judged" in sheet
    assert "| longer (characters) | 0.90 | 1.00 | 0.20 | 0.60 | 0.70 |" in sheet
    rows = (tmp_path / "study" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    replies = {row["reply"]: row for row in map(json.loads, rows)}
    assert len(replies) == 43
    provenance = (tmp_path / "study" / "provenance.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, provenance):
        if row["made"]["kind"] == "model":
            reply = replies[row["made"]["reply"]]
            assert reply["taken"] > 0
            assert reply["target"] in (row.get("dialogue_id"), row.get("template_id"),
                                       row.get("dialogue_id", "").rpartition("-")[0])  # fmt: skip


def test_croissant_names_every_file_with_its_hash(tmp_path):
    done = export_study("gricean-maxims", tmp_path / "study")
    about = json.loads((tmp_path / "study" / "croissant.json").read_text(encoding="utf-8"))
    listed = {file["name"]: file for file in about["distribution"]}
    assert set(listed) == {*done.files} - {"croissant.json"}
    for name, file in listed.items():
        raw = (tmp_path / "study" / name).read_bytes()
        assert file["sha256"] == hashlib.sha256(raw).hexdigest()
        assert file["contentSize"] == f"{len(raw)} B"
    row = json.loads((tmp_path / "study" / "dialogues.jsonl").read_text().splitlines()[0])
    fields = about["recordSet"][0]["field"]
    assert [field["source"]["extract"]["column"] for field in fields] == list(row)


def judge(folder, kind, dialogue_id, **more):
    build = read_build(folder)
    annotator = more.pop("annotator", "ann")
    with DecisionStore(folder / DECISIONS) as store:
        return store.add(
            Decision(annotator=annotator, dialogue_id=dialogue_id, kind=kind,
                     shown=shown_digest(build.of_dialogue(dialogue_id)), **more)
        )  # fmt: skip


def test_decisions_say_what_goes_into_the_study(tmp_path):
    build = grown(tmp_path / "set")
    for line in build.originals[:6]:
        judge(tmp_path / "set", "accept", line.dialogue_id)
    judge(tmp_path / "set", "choose", "quantity_1-01-1", chosen="violator")
    judge(tmp_path / "set", "choose", "quantity_1-01-2", chosen="follower")
    judge(tmp_path / "set", "reject", "quantity_1-01-3", reasons=("unnatural",))
    judge(tmp_path / "set", "edit", "quantity_1-01-2", texts={"violator": "I left it in a spot."})
    judge(tmp_path / "set", "accept", "quantity_1-01-2", annotator="bo",
          comment="fine as it is")  # fmt: skip
    judge(tmp_path / "set", "accept", "quantity_1-01-1", annotator="bo")
    done = export_study(tmp_path / "set", tmp_path / "study")
    study = load_study(tmp_path / "study")
    # Five accepted of the first maxim, one rejected and one disputed; one of the second maxim.
    assert {item.unit for item in study.items} == {
        "quantity_1-01-1", "quantity_1-01-4", "quantity_1-01-5", "quantity_2-01-1"
    }  # fmt: skip
    assert study.design.level_keys == ("quantity_1", "quantity_2")
    assert "1 dialogues left out: the dialogue is rejected" in done.notes
    assert "1 dialogues left out: the dialogue is disputed" in done.notes
    sheet = (tmp_path / "study" / "README.md").read_text(encoding="utf-8")
    assert "| annotator-1 and annotator-2 | 6 of 6 | – |" in sheet
    assert "| annotator-1 | 1 of 2 | 0.50 |" in sheet
    assert "unnatural or ungrammatical (1)" in sheet
    judged = (tmp_path / "study" / "decisions.jsonl").read_text(encoding="utf-8")
    assert '"ann"' not in judged
    assert "fine as it is" in judged


def test_an_edited_answer_holds_in_every_wording(tmp_path):
    build = grown(tmp_path / "set")
    for line in build.originals:
        judge(tmp_path / "set", "accept", line.dialogue_id)
    judge(
        tmp_path / "set", "edit", "quality-01-2", texts={"violator": "I put in a lake and a sea."}
    )
    judge(tmp_path / "set", "edit", "quality-01-3", wording="1", texts={"question": "What was it?"})
    export_study(tmp_path / "set", tmp_path / "study")
    rows = list(map(json.loads, (tmp_path / "study" / "dialogues.jsonl").read_text().splitlines()))
    assert [r["violator"] for r in rows if r["dialogue_id"] == "quality-01-2"] == [
        "I put in a lake and a sea."
    ] * 3
    assert [r["question"] for r in rows if r["dialogue_id"] == "quality-01-3"] == [
        "What did you drink this morning?", "What was it?", "This morning, what did you drink?"
    ]  # fmt: skip
    sheet = (tmp_path / "study" / "README.md").read_text(encoding="utf-8")
    assert "“What did you have to drink this morning?” → “What was it?”" in sheet


def test_a_rejected_rewording_is_replaced_by_the_next(tmp_path):
    from felicity.build.adding import add_lines

    build = grown(tmp_path / "set")
    (tmp_path / "more.csv").write_text(
        'dialogue_id,question\nrelation-01-1,"What was planted in the garden by you?"\n'
    )
    add_lines(tmp_path / "set", tmp_path / "more.csv", "Bo")
    for line in build.originals:
        judge(tmp_path / "set", "accept", line.dialogue_id)
    judge(tmp_path / "set", "reject", "relation-01-1", wording="1",
          reasons=("rewording_changes_question",))  # fmt: skip
    export_study(tmp_path / "set", tmp_path / "study")
    rows = list(map(json.loads, (tmp_path / "study" / "provenance.jsonl").read_text().splitlines()))
    found = [r for r in rows if r.get("dialogue_id") == "relation-01-1"]
    assert [(r["wording"], r["source_wording"]) for r in found] == [
        ("0", "0"),
        ("1", "2"),
        ("2", "3"),
    ]
    assert found[2]["made"]["by"] == "Bo"


def test_a_german_set_is_german_throughout(tmp_path):
    base = tmp_path / "anfang.csv"
    base.write_text(
        "maxim,question,follower,violator\n"
        'quality,"Was hast du gegessen, {responder}?","Ich habe ein Brot gegessen.",'
        '"Ich habe ein Haus gegessen."\n'
        'politeness,"Darf ich mitspielen?","Ja, komm her, mein Freund.","Ja, komm her, du Esel."\n',
        encoding="utf-8",
    )
    new = NewSet(language="de", dialogues=1, rewordings=0, title="Verstöße")
    build = start_build(tmp_path / "satz", new, base, "Jürgen")
    assert [r.name for r in run_checks(build) if r.flagged and "cue" not in r.name] == [
        "balance of maxims", "base and template"
    ]  # fmt: skip
    export_study(tmp_path / "satz", tmp_path / "studie")
    study = load_study(tmp_path / "studie")
    assert (study.language, study.title) == ("de", "Verstöße")
    assert [level.short for level in study.design.levels] == ["Qualität", "Höflichkeit"]
    assert study.items[0].question == "Was hast du gegessen, Lukas?"
    assert "Antworte nur mit dem Buchstaben." in study.asked.prompt
    assert "unhöflich" in study.asked.words


def test_what_cannot_be_exported_is_said(tmp_path):
    start(tmp_path / "set")
    with pytest.raises(FelicityError, match="0 rewordings that can be taken, not 2"):
        export_study(tmp_path / "set", tmp_path / "study")
    assert not (tmp_path / "study").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(FelicityError, match="it is there and not empty"):
        export_study("gricean-maxims", tmp_path / "full")
    with pytest.raises(OptionError, match="expected one of accepted, not-rejected, all"):
        export_study("gricean-maxims", tmp_path / "other", take="some")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "set"]


def test_the_tables_of_checks_lie_beside_the_study(tmp_path):
    export_study("gricean-maxims", tmp_path / "study")
    with (tmp_path / "study" / "checks.csv").open(encoding="utf-8") as file:
        rows = {row["check"]: row for row in csv.DictReader(file)}
    assert rows["cue: longer (characters)"]["politeness"] == "0.48"
    assert rows["duplicates"]["flagged"] == "0"
