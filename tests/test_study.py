"""Study folders: the built-in one, one of the user's own, and every fault of a bad one."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from felicity import load_study
from felicity.checks import count_items, cue_table
from felicity.errors import FaultsError, FelicityError

from study_folders import ROWS, TOML, write_study


def test_the_gricean_study_has_2250_items_in_balance(gricean):
    counts = count_items(gricean)
    assert counts["items"] == 2250
    assert counts["units"] == 125
    assert {k: (v["units"], v["items"]) for k, v in counts["levels"].items()} == dict.fromkeys(
        ("quantity_1", "quantity_2", "quality", "relation", "politeness"), (25, 450)
    )
    assert set(counts["variants"]["wording"].values()) == {750}
    assert len(counts["variants"]["questioner × responder"]) == 6
    assert set(counts["variants"]["questioner × responder"].values()) == {375}
    templates = Counter(item.factors["template_id"] for item in gricean.items)
    assert len(templates) == 25
    assert set(templates.values()) == {90}


def test_item_ids_are_stable_and_unique(gricean):
    ids = [item.item_id for item in gricean.items]
    assert len(set(ids)) == 2250
    assert ids[0] == "quantity_1-01-1-w0-Leslie-Joan"
    assert ids[-1] == "politeness-05-5-w2-Thomas-Joan"
    assert load_study("gricean-maxims").data_hash == gricean.data_hash


def test_no_placeholder_and_no_stray_name_is_left(gricean):
    names = {"Leslie", "Joan", "Thomas"}
    for item in gricean.items:
        cast = {item.factors["questioner"], item.factors["responder"]}
        for text in (item.question, *item.answers.values()):
            assert "{" not in text
            assert not any(name in text for name in names - cast), item.item_id


@pytest.mark.parametrize("rule", ["longer (characters)", "longer (words)"])
def test_length_tells_nothing(gricean, rule):
    for level, score in cue_table(gricean)[rule].items():
        assert 0.38 <= score.share <= 0.62, (rule, level, score)


def test_templates_file_describes_every_template(gricean):
    import tomllib

    templates = tomllib.loads((gricean.folder / "templates.toml").read_text())["template"]
    assert {t["id"]: t["maxim"] for t in templates} == {
        item.factors["template_id"]: item.factors["maxim"] for item in gricean.items
    }


def test_every_dialogue_was_read_blind_by_two_in_its_wording(gricean):
    verdicts = [
        json.loads(line)
        for line in (gricean.folder / "review.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    first = Counter((v["dialogue_id"], v["wording"]) for v in verdicts if v["round"] == 1)
    assert set(first.values()) == {2}
    assert set(first) == {(i.unit, i.factors["wording"]) for i in gricean.items}
    changed = {v["dialogue_id"] for v in verdicts if v["change"]}
    assert changed <= {item.unit for item in gricean.items}


def test_a_study_of_the_users_own_loads_by_path(tmp_path):
    study = load_study(write_study(tmp_path / "own"))
    assert len(study.items) == 8
    assert study.design.level_keys == ("all", "and")
    assert study.reference[0].correct == {"all": 18, "and": 20}
    trial = study.trials(study.format())[0]
    assert trial.pair.context + trial.pair.answer == (
        "Ann asks: How many of the three cups broke? All of them broke."
    )


def test_items_may_come_as_csv_with_a_byte_order_mark(tmp_path):
    folder = write_study(tmp_path / "own", toml=TOML.replace("items.jsonl", "items.csv"))
    header = list(ROWS[0])
    lines = [",".join(header), *(",".join(f'"{row[c]}"' for c in header) for row in ROWS)]
    (folder / "items.csv").write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    assert load_study(folder).items == load_study(write_study(tmp_path / "same")).items


def faults(folder) -> list[str]:
    with pytest.raises(FaultsError) as caught:
        load_study(folder)
    return [str(fault) for fault in caught.value.faults]


def test_every_fault_is_told_at_once_with_file_line_field_got_and_allowed(tmp_path):
    rows = [dict(row) for row in ROWS]
    rows[0]["word"] = "none"
    rows[1]["weak"] = ""
    rows[2]["weak"] = rows[2]["strong"]
    rows[3]["question"] = "Where is {nobody}?"
    rows.append(dict(rows[4]))
    found = faults(write_study(tmp_path / "bad", rows=rows))
    assert 'items.jsonl line 1, word: got "none"; expected one of all, and' in found
    assert 'items.jsonl line 2, weak: got ""; expected a text that is not empty' in found
    assert any(f.startswith("items.jsonl line 3, weak:") and "other than" in f for f in found)
    assert any("line 4, question" in f and "{nobody}" in f and "no placeholder" in f for f in found)
    assert any("item_id" in f and "and-2-Ann (2 times)" in f for f in found)


def test_a_unit_without_one_of_its_variants_is_a_fault(tmp_path):
    found = faults(write_study(tmp_path / "bad", rows=ROWS[:-1]))
    assert found == [
        'items.jsonl, story: got "and-3 without Bo"; expected every unit under every variant'
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('file = "items.jsonl"', 'file = "no.jsonl"'), 'no.jsonl, file: got "no such file"'),
        (('paradigm = "choice"', 'paradigm = "poll"'), "study.paradigm: got"),
        (("[study]", "[study"), "study.toml, syntax"),
        (('unit = "story"\n', ""), 'items.unit: got "nothing"; expected text'),
        (('["strong", "weak"]', '["strong"]'), "two or more different labels"),
        (('answer = " {answer}"', 'answer = " x"'), "expected {answer} in it"),
        (("{asker} asks", "{who} asks"), 'formats.story.context: got "{who}"'),
        (('default = "story"', 'default = "tale"'), 'formats.default: got "tale"'),
        (
            ('variants = [["asker"]]', "variants = [[]]\nitems_per_level = 9"),
            'got "4 items of all"',
        ),
    ],
)
def test_faults_of_study_toml(tmp_path, change, expected):
    assert change[0] in TOML
    found = faults(write_study(tmp_path / "bad", toml=TOML.replace(*change)))
    assert any(expected in fault for fault in found), found


def test_faults_of_other_files(tmp_path):
    folder = write_study(tmp_path / "bad")
    (folder / "README.md").unlink()
    (folder / "items.jsonl").write_bytes(b'{"story": "caf\xe9"}\n')
    (folder / "reference.csv").write_text(
        "group,word,correct,asked,source\nAdults,all,21,20,x\nAdults,some,x,20,x\n"
    )
    found = faults(folder)
    assert (
        'README.md, file: got "no such file"; expected a file of this name in the study folder'
        in (found)
    )
    assert any(fault.startswith("items.jsonl, encoding") for fault in found)
    assert 'reference.csv line 2, correct: got "21 of 20"; expected 0 to asked' in found
    assert 'reference.csv line 3, word: got "some"; expected one of all, and' in found
    assert 'reference.csv, Adults: got "no row for and"; expected a row for every level' in found


def test_lines_that_are_not_json_are_each_named(tmp_path):
    folder = write_study(tmp_path / "bad")
    with (folder / "items.jsonl").open("a") as stream:
        stream.write('{"story": \n[1, 2]\n')
    found = faults(folder)
    assert any(fault.startswith("items.jsonl line 9, line") for fault in found)
    assert 'items.jsonl line 10, line: got "list"; expected a JSON object' in found


def test_an_empty_items_file_is_a_fault(tmp_path):
    found = faults(write_study(tmp_path / "bad", rows=[]))
    assert 'items.jsonl, rows: got "0"; expected at least one row' in found


def test_selection_names_what_is_allowed(gricean):
    assert len(gricean.select({"maxim": "relation", "wording": "0"})) == 150
    with pytest.raises(FelicityError, match="expected one of dialogue_id, maxim"):
        gricean.select({"mood": "x"})
    with pytest.raises(FelicityError, match="expected one of politeness, quality"):
        gricean.select({"maxim": "manner"})
    with pytest.raises(FelicityError, match="no item has all"):
        gricean.select({"questioner": "Joan", "responder": "Joan"})


def test_a_name_that_is_no_study_is_told_what_there_is():
    with pytest.raises(FelicityError, match="gricean-maxims"):
        load_study("gricean")
