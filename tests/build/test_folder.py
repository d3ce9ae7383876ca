"""Build folders: every fault at once, and nothing made or added where there is one."""

from __future__ import annotations

import json

import pytest

from felicity.build.adding import NewSet, add_lines, start_build
from felicity.build.folder import read_build
from felicity.build.language import list_languages, load_language
from felicity.build.template import render_templates
from felicity.errors import FaultsError, FelicityError, OptionError
from felicity.study import PLACEHOLDER

from building import BASE, grown, start


def test_all_faults_of_a_folder_at_once(tmp_path):
    build = grown(tmp_path / "set")
    lines = (build.folder / "dialogues.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[0])
    bad = [
        row | {"maxim": "manner"},
        row | {"dialogue_id": "quantity_1-01-9", "wording": "1"},
        row,
        row | {"dialogue_id": "quantity_1-02-1", "question": " "},
        row | {"dialogue_id": "quantity_1-02-2", "made": {"by": "Ann"}},
        {**row, "dialogue_id": "quantity_1-02-3", "colour": "red"},
    ]
    text = "\n".join([*lines, *map(json.dumps, bad), "{oops"])
    (build.folder / "dialogues.jsonl").write_text(text, encoding="utf-8")
    plan = (build.folder / "build.toml").read_text(encoding="utf-8")
    plan = plan.replace("rewordings = 2", "rewordings = -1\ncolour = 3").replace(
        '"Joan"', '"Leslie"'
    )
    (build.folder / "build.toml").write_text(plan + "\n[sizes]\na = 1\n", encoding="utf-8")
    with (build.folder / "templates.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[template]]\nid = "relation-01"\nmaxim = "relation"\n')
    with pytest.raises(FaultsError) as caught:
        read_build(build.folder)
    found = str(caught.value)
    for part in (
        'dialogues.jsonl line 77, wording: got "1"; expected 0 there too',
        'line 78, dialogue_id: got "quantity_1-01-1/0 (also line 1)"; expected each wording',
        'line 79, question: got " "; expected a text that is not empty',
        'line 80, made: got "{',
        'line 81, colour: got "a column"; expected one of dialogue_id, template_id',
        "line 82, line:",
        'size.colour: got "a key"; expected one of dialogues, rewordings',
        'sizes: got "a section"; expected one of set, size, names, made, export, maxim',
        'size.rewordings: got "-1"; expected 0 or more',
        "names.names: got",
        'template 6, situation: got "nothing"; expected a text',
    ):
        assert part in found, part


def test_an_unknown_maxim_is_named_with_the_allowed(tmp_path):
    start(tmp_path / "set")
    with (tmp_path / "set" / "dialogues.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"dialogue_id": "a-1", "template_id": "a", "maxim": "manner", "wording": "0", '
                   '"question": "a", "follower": "b", "violator": "c"}\n')  # fmt: skip
    with pytest.raises(
        FaultsError, match=r'line 6, maxim: got "manner"; expected one of quantity_1'
    ):
        read_build(tmp_path / "set")


def test_a_faulty_file_of_base_dialogues_makes_no_folder(tmp_path):
    bad = tmp_path / "base.csv"
    bad.write_text("maxim,question,follower,violator\nmanner,Who?,I.,I.\nquality,,A.,B.\n")
    with pytest.raises(FaultsError) as caught:
        start_build(tmp_path / "set", NewSet(), bad, "Ann")
    for part in (
        'base.csv line 2, maxim: got "manner"',
        'line 2, violator: got "I."; expected a text other than the follower\'s',
        'line 3, question: got "nothing"; expected a text of one line',
    ):
        assert part in str(caught.value)
    assert not (tmp_path / "set").exists()


def test_people_add_base_dialogues_dialogues_and_rewordings(tmp_path):
    build = start(tmp_path / "set")
    more = tmp_path / "more.jsonl"
    rows = [
        {"maxim": "quality", "question": "Who fell?", "follower": "A boy.", "violator": "A wish."},
        {"maxim": "quality", "template_id": "quality-01", "question": "What did you eat?",
         "follower": "I ate a pie.", "violator": "I ate a roof."},
        {"dialogue_id": "quality-01-1", "question": "What have you put on your feet?"},
        {"dialogue_id": "quality-01-1", "question": "What are you putting on your feet?"},
    ]  # fmt: skip
    more.write_text("\n".join(map(json.dumps, rows)))
    added = add_lines(build.folder, more, "Bo")
    assert [(line.dialogue_id, line.wording) for line in added] == [
        ("quality-02-1", "0"), ("quality-01-2", "0"), ("quality-01-1", "1"), ("quality-01-1", "2")
    ]  # fmt: skip
    assert added[2].violator == "I put on two red clouds."
    assert {line.made.by for line in added if line.made} == {"Bo"}
    assert len(read_build(build.folder).wordings) == 9
    bad = tmp_path / "bad.csv"
    bad.write_text("dialogue_id,question,mood\nquality-09-1,Who?,sad\n")
    with pytest.raises(FaultsError, match="a dialogue of this set") as caught:
        add_lines(build.folder, bad, "Bo")
    assert 'mood: got "a column"' in str(caught.value)
    with pytest.raises(OptionError, match="--by"):
        add_lines(build.folder, more, " ")


def test_a_set_is_not_started_twice_and_not_found_where_none_is(tmp_path):
    start(tmp_path / "set")
    with pytest.raises(FelicityError, match="there is a set here already"):
        start(tmp_path / "set")
    with pytest.raises(FelicityError, match=r"expected a folder with a build\.toml"):
        read_build(tmp_path / "nowhere")
    with pytest.raises(OptionError, match='got "tlh"; expected one of de, en'):
        start_build(tmp_path / "x", NewSet(language="tlh"), BASE, "Ann")


def test_templates_of_any_text_come_back_as_they_were(tmp_path):
    from dataclasses import replace

    build = grown(tmp_path / "set")
    odd = 'a "quote", a \\ and\ta tab\x07 and “others” ü'
    templates = [replace(t, why=odd, slots={**t.slots, "x": odd}) for t in build.templates]
    (build.folder / "templates.toml").write_text(render_templates(templates), encoding="utf-8")
    assert list(read_build(build.folder).templates) == templates


@pytest.mark.parametrize("code", list_languages())
def test_each_language_is_whole(code):
    language, english = load_language(code), load_language("en")
    assert [m.key for m in language.maxims] == [m.key for m in english.maxims]
    assert set(language.reasons) == set(english.reasons)
    for name, text in language.prompts.items():
        kept = {"thing"} if name == "template" else set()
        assert set(PLACEHOLDER.findall(text)) | kept == (
            set(PLACEHOLDER.findall(english.prompts[name])) | kept
        ), name
    assert len(language.names) >= 6
    assert not {name.lower() for name in language.names} & language.name_words
    assert all(" " not in name for name in language.names)


def test_every_reason_of_a_retry_has_words():
    from felicity.build.drafts import STATUSES

    assert set(STATUSES) - {"ok", "model_mismatch"} <= set(load_language("de").reasons)
