"""Materials of others, as studies."""

from __future__ import annotations

import json

import polars as pl
import pytest

from felicity import analyse, open_participant, run
from felicity.cli import main
from felicity.errors import FaultsError, OptionError, RunError
from felicity.interop import export_study, import_study
from felicity.types import TextPair

TABLE = (
    "Q,A,B,Phenomenon,Story\n"
    "Where is he?,In bed.,On Mars.,place,s1\n"
    "Where is he now?,In bed.,On Mars.,place,s1\n"
    '"When?\nTell me.",At noon.,"At noon, at noon.",time,s2\n'
)
COLUMNS = {"question": "Q", "follower": "A", "violator": "B"}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ";"), (".csv", "\t"), (".tsv", "\t")])
def test_tables_as_spreadsheets_of_other_countries_save_them(tmp_path, suffix, mark):
    rows = [("question", "follower", "violator"), ("Well, how?", '"By, bus."', "By\u2028."),
            ("Why?", "It rains.", "It.")]  # fmt: skip
    text = "".join(mark.join(row) + "\r\n" for row in rows)
    file = tmp_path / f"mine{suffix}"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    study = import_study(file, tmp_path / "study")
    assert [item.question for item in study.items] == ["Well, how?", "Why?"]
    assert study.items[0].answers == {"follower": "By, bus.", "violator": "By\u2028."}


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_column_that_stands_twice_is_a_fault(tmp_path, suffix):
    mark = "," if suffix == ".csv" else "\t"
    file = tmp_path / f"mine{suffix}"
    file.write_text(
        f"question{mark}follower{mark}violator{mark}follower\nWhy?{mark}a{mark}b{mark}c\n"
    )
    with pytest.raises(FaultsError, match="follower \\(2 times\\)"):
        import_study(file, tmp_path / "study")


def test_a_table_with_columns_of_any_name_becomes_a_study(tmp_path):
    file = write(tmp_path / "mine.csv", TABLE)
    study = import_study(
        file, tmp_path / "study", columns={**COLUMNS, "unit": "Story"}, factor="Phenomenon"
    )
    assert study.name == "study"
    assert study.design.level_keys == ("place", "time")
    assert study.design.answers == ("follower", "violator")
    assert [item.unit for item in study.items] == ["s1", "s1", "s2"]
    assert [item.item_id for item in study.items] == ["0001", "0002", "0003"]
    assert study.trials(study.format())[4].pair == TextPair(
        context="When?\nTell me.", answer=" At noon."
    )


@pytest.mark.parametrize("kind", ["xlsx", "tsv", "jsonl", "parquet"])
def test_every_kind_of_file_gives_the_same_study(kind, tmp_path):
    expected = import_study(write(tmp_path / "mine.csv", TABLE), tmp_path / "a", columns=COLUMNS)
    frame = pl.read_csv(tmp_path / "mine.csv")
    file = tmp_path / f"mine.{kind}"
    if kind == "xlsx":
        pytest.importorskip("fastexcel")
        frame.write_excel(file, worksheet="Items")
    elif kind == "tsv":
        frame.write_csv(file, separator="\t")
    elif kind == "jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_parquet(file)
    assert import_study(file, tmp_path / "b", columns=COLUMNS).items == expected.items


def test_a_sheet_is_found_by_name_and_numbers_stay_as_written(tmp_path):
    pytest.importorskip("fastexcel")
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "book.xlsx") as book:
        book.add_worksheet("Notes").write(0, 0, "not here")
        sheet = book.add_worksheet("Items")
        for line, row in enumerate([("question", "good", "bad"), ("Two and two?", 4, 5.5)]):
            sheet.write_row(line, 0, row)
    options = {"answers": ("good", "bad"), "sheet": "Items"}
    study = import_study(tmp_path / "book.xlsx", tmp_path / "s", **options)
    assert dict(study.items[0].answers) == {"good": "4", "bad": "5.5"}
    with pytest.raises(OptionError, match='got "Item"; expected one of Notes, Items'):
        import_study(tmp_path / "book.xlsx", tmp_path / "t", **{**options, "sheet": "Item"})


def test_all_faults_are_named_by_the_lines_of_the_file(tmp_path):
    text = TABLE + "Who?,,Me.,place,s3\nWho?,Me.,Me.,,s4\nWho {is}?,Me.,You.,time,s5\n"
    with pytest.raises(FaultsError) as caught:
        import_study(
            write(tmp_path / "mine.csv", text),
            tmp_path / "study",
            columns=COLUMNS,
            factor="Phenomenon",
        )
    assert [str(fault) for fault in caught.value.faults] == [
        'mine.csv line 6, follower: got ""; expected a text that is not empty',
        'mine.csv line 7, Phenomenon: got ""; expected a text that is not empty',
        'mine.csv line 7, violator: got "Me."; expected a text other than the follower\'s',
        'mine.csv line 8, question: got "{is}"; expected no word in braces, which a study fills in',
    ]
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "a,b\n1,2\n1\n", r'line 3, line: got "1 fields"; expected 2'),
        ("a.tsv", "a\tb\n1\n", r'line 2, line: got "1 fields"; expected 2'),
        ("a.jsonl", '{"a": 1}\n{"a"\n', "line 2, line: got"),
        ("a.csv", "a,b\n", "at least one row"),
        ("a.csv", "", "at least one row"),
        ("a.xlsx", "no workbook", "a.xlsx, file: got"),
        ("a.docx", "", "expected one of .csv, .tsv"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(tmp_path, name, text, message):
    with pytest.raises((FaultsError, OptionError), match=message):
        import_study(write(tmp_path / name, text), tmp_path / "study", answers=("a", "b"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "excel"}, "expected one of table, gricean-csv, blimp, hu-2023"),
        ({}, "got 0 answers; expected two or more"),
        ({"columns": {**COLUMNS, "violator": "C"}}, "got C; expected one of Q, A, B"),
        ({"columns": COLUMNS, "factor": "Maxim"}, "got Maxim; expected one of Q, A, B"),
        ({"kind": "blimp", "columns": COLUMNS}, "its columns are known"),
        ({"columns": {"correct": "A", "wrong": "B"}}, "got correct; expected another name"),
        ({"columns": COLUMNS, "sheet": "one"}, "expected a spreadsheet"),
    ],
)
def test_a_wrong_option_is_said(tmp_path, options, message):
    with pytest.raises(OptionError, match=message):
        import_study(write(tmp_path / "mine.csv", TABLE), tmp_path / "study", **options)


def test_a_study_that_is_there_is_not_written_over(tmp_path):
    file = write(tmp_path / "mine.csv", TABLE)
    import_study(file, tmp_path / "study", columns=COLUMNS)
    with pytest.raises(RunError, match=r"there already: study.toml, items.jsonl, README.md"):
        import_study(file, tmp_path / "study", columns=COLUMNS)


def test_the_papers_labels_are_our_maxims_and_wordings_are_found(tmp_path):
    file = write(
        tmp_path / "paper.csv",
        "Question,Follower,Violator,Maxim\n"
        "Where?,Here.,Mars.,Be relevant\n"
        "And where?,Here.,Mars.,Be relevant\n"
        "How?,Well.,Shut up.,be polite\n"
        "So how?,Well.,Shut up.,be polite\n",
    )
    study = import_study(file, tmp_path / "study", kind="gricean-csv")
    assert study.design.level_keys == ("relation", "politeness")
    assert study.design.levels[1].short == "Politeness"
    assert study.design.variants == (("wording",),)
    assert [item.item_id for item in study.items] == [
        "relation-001-w0", "relation-001-w1", "politeness-001-w0", "politeness-001-w1",
    ]  # fmt: skip
    bad = write(tmp_path / "bad.csv", "question,follower,violator,maxim\nA?,B.,C.,Manner\n")
    with pytest.raises(FaultsError, match='line 2, maxim: got "Manner"; expected one of Be inform'):
        import_study(bad, tmp_path / "t", kind="gricean-csv")
    with pytest.raises(FaultsError, match="expected maxim"):
        import_study(write(tmp_path / "c.csv", "question,follower,violator\nA,B,C\n"),
                     tmp_path / "t", kind="gricean-csv")  # fmt: skip


def test_our_own_csv_comes_back_as_the_same_items(gricean, tmp_path):
    (file,) = export_study(gricean, "csv", tmp_path, where={"wording": "0"})
    back = import_study(file, tmp_path / "study", kind="gricean-csv")
    original = gricean.select({"wording": "0"})
    assert [(i.item_id, i.unit, i.question, dict(i.answers)) for i in back.items] == [
        (i.item_id, i.unit, i.question, dict(i.answers)) for i in original
    ]


def test_blimp_sentences_are_scored_whole(tmp_path, tiny_gpt2_folder):
    rows = [
        {"sentence_good": "Dogs bark.", "sentence_bad": "Dogs barks.", "UID": "agreement",
         "field": "syntax", "pairID": "0"},
        {"sentence_good": "Who ate?", "sentence_bad": "Ate who?", "UID": "order",
         "field": "syntax", "pairID": "0"},
    ]  # fmt: skip
    file = write(tmp_path / "blimp.jsonl", "\n".join(map(json.dumps, rows)))
    study = import_study(file, tmp_path / "study", kind="blimp")
    assert study.design.level_keys == ("agreement", "order")
    done = run(study, open_participant(f"hf:{tiny_gpt2_folder}"), tmp_path / "run")
    assert "".join(done.responses["tokens"][0]) == "Dogs bark."
    assert done.responses["status"].unique().to_list() == ["ok"]


def test_scalar_diversity_asks_whether_the_stronger_word_is_denied(tmp_path):
    file = write(
        tmp_path / "sd.csv",
        "weak,strong,sentence,class\nsome,all,Some of them left.,quantifier\n"
        "warm,hot,The soup is cold.,adjective\n",
    )
    with pytest.raises(FaultsError, match='line 3, sentence: got "The soup is cold'):
        import_study(file, tmp_path / "s", kind="scalar-diversity")
    write(file, file.read_text().replace("cold", "warm"))
    study = import_study(file, tmp_path / "s", kind="scalar-diversity")
    assert study.design.answers == ("yes", "no")
    assert study.items[0].question.endswith("according to John, it is not all?")
    assert study.items[1].unit == "warm/hot"


def hu_row(number, labels, options, right, **more):
    listed = "\n".join(f"{n}) {text}" for n, text in enumerate(options, start=1))
    return {
        "phenomenon": "HV", "item_id": str(number), "content": f"A joke {number}. ",
        "randomized_labels_complex": str(labels), "randomized_true_answer": str(right),
        "is_example": "False", "prompt": f"Task: …\nJoke: …\nPunchlines:\n{listed}\nAnswer: ",
        "seed": "0", **more,
    }  # fmt: skip


def hu_file(path, rows):
    pl.DataFrame(rows).write_csv(path)
    return path


def test_hu_2023_items_have_several_answers_and_chance_is_one_in_their_number(
    tmp_path, tiny_gpt2_folder
):
    rows = [
        hu_row(1, ["Literal", "Right", "NonSequitur"], ["Dull.", "Funny.", "What?"], 2),
        hu_row(1, ["Right", "Literal", "NonSequitur"], ["Funny.", "Dull.", "What?"], 1, seed="1"),
        hu_row(2, ["Right", "NonSequitur", "Literal"], ["Ha ha.", "Hm?", "So it is."], 1),
        hu_row(3, ["NonSequitur", "Right"], ["Blue.", "Oh, that."], 2),
        hu_row(9, ["Right", "Literal"], ["x", "y"], 1, is_example="True"),
    ]
    study = import_study(hu_file(tmp_path / "hu.csv", rows), tmp_path / "study", kind="hu-2023")
    assert study.design.answers == ("target", "Literal", "NonSequitur")
    assert [dict(item.answers) for item in study.items] == [
        {"target": "Funny.", "Literal": "Dull.", "NonSequitur": "What?"},
        {"target": "Ha ha.", "Literal": "So it is.", "NonSequitur": "Hm?"},
        {"target": "Oh, that.", "NonSequitur": "Blue."},
    ]
    done = run(study, open_participant(f"hf:{tiny_gpt2_folder}"), tmp_path / "run")
    assert done.responses.height == done.asked == 8
    cell = analyse([done], study).participants[0].cells["HV"]
    assert cell.chance == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 3)
    means = {
        (row["item_id"], row["answer_label"]): row["log_prob_mean"]
        for row in done.responses.iter_rows(named=True)
    }
    won = sum(
        means[item.item_id, "target"]
        > max(means[item.item_id, label] for label in item.answers if label != "target")
        for item in study.items
    )
    assert (cell.correct, cell.usable, cell.asked) == (won, 3, 3)


def test_hu_2023_faults_are_all_named(tmp_path):
    rows = [
        hu_row(1, ["Right"], ["Only one."], 1),
        hu_row(2, ["A", "B"], ["x", "y"], 3),
    ]
    with pytest.raises(FaultsError) as caught:
        import_study(hu_file(tmp_path / "hu.csv", rows), tmp_path / "study", kind="hu-2023")
    told = [(fault.field, fault.got, fault.allowed) for fault in caught.value.faults]
    assert told == [
        ("prompt", "1 options", "two or more lines such as 1) …"),
        ("randomized_true_answer", "3", "1 to 2"),
    ]


def test_the_command_line_makes_a_study_that_validates(tmp_path, capsys):
    file = write(tmp_path / "mine.csv", TABLE)
    words = ["import", str(file), "--to", str(tmp_path / "study"), "--factor", "Phenomenon"]
    for role, column in COLUMNS.items():
        words += ["--column", f"{role}={column}"]
    for arguments in (words, ["validate", str(tmp_path / "study")]):
        with pytest.raises(SystemExit) as done:
            main(arguments)
        assert done.value.code == 0
    assert "valid" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        main([*words, "--column", "question"])
    assert done.value.code == 1
    assert 'got "question"; expected ROLE=COLUMN' in capsys.readouterr().err
