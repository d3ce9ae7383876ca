"""`felicity parse`, as a user calls it."""

from __future__ import annotations

import json

import pytest

from felicity.cli import main


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["parse", *arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_json_gives_value_and_status_in_order(tmp_path, capsys):
    file = write(
        tmp_path / "replies.jsonl",
        '{"reply": "-2", "finish": "stop"}',
        "",
        '{"reply": "4 or 5", "finish": "stop"}',
        '{"reply": "", "finish": "length", "reasoning": "it could be"}',
        '{"reply": null, "finish": "error"}',
    )
    code, out, _ = call(capsys, "--replies", file, "--scale", "-3..3", "--json")
    assert code == 0
    assert json.loads(out) == [
        {"value": -2, "status": "ok"},
        {"value": None, "status": "ambiguous"},
        {"value": None, "status": "truncated_in_reasoning"},
        {"value": None, "status": "error"},
    ]


def test_table_marks_the_number_that_decided(tmp_path, capsys):
    file = write(
        tmp_path / "replies.jsonl",
        '{"reply": "On a scale of 1 to 7, I\'d rate this a 5", "finish": "stop"}',
        '{"reply": "half a pair \\ud83d", "finish": "stop"}',
    )
    code, out, err = call(capsys, "--replies", file, "--scale", "1-7")
    assert code == 0
    assert "I'd rate this a ›5‹" in out
    assert "1 of 2 usable, 1 unparsed" in err


def test_all_bad_lines_at_once(tmp_path, capsys):
    file = write(
        tmp_path / "replies.jsonl",
        '{"reply": 5}',
        '{"reply": "5", "finish": "stop"}',
        "5,",
        "[1]",
        '{"reply": "5", "finish": "stop", "reasoning": 3}',
    )
    code, out, err = call(capsys, "--replies", file, "--scale", "1-7", "--json")
    assert code == 1
    assert out == ""
    assert "5 faults" in err
    for fault in (
        'line 1, reply: got "5"; expected text, or null for none',
        'line 1, finish: got "nothing"; expected text, as stop or length',
        'line 3, line: got "Extra data at column 2"; expected JSON',
        'line 4, line: got "list"; expected a JSON object',
        'line 5, reasoning: got "3"; expected text, or null for none',
    ):
        assert f"replies.jsonl {fault}" in err


def test_no_replies_is_an_error(tmp_path, capsys):
    file = write(tmp_path / "replies.jsonl")
    assert "expected at least one row" in call(capsys, "--replies", file, "--scale", "1-7")[2]


def test_a_file_that_is_not_text_or_not_there(tmp_path, capsys):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    code, _, err = call(capsys, "--replies", str(tmp_path / "bytes"), "--scale", "1-7")
    assert code == 1
    assert 'got "a byte that is not UTF-8 at 0"; expected UTF-8' in err
    code, _, err = call(capsys, "--replies", str(tmp_path / "none"), "--scale", "1-7")
    assert code == 1
    assert "expected a readable file" in err


@pytest.mark.parametrize("scale", ["7-1", "7", "a-b", "1-7-9", "1.5-7", ""])
def test_a_scale_that_is_none(tmp_path, capsys, scale):
    file = write(tmp_path / "replies.jsonl", '{"reply": "5", "finish": "stop"}')
    code, _, err = call(capsys, "--replies", file, "--scale", scale)
    assert code == 1
    assert "--scale: got" in err
    assert "1-7, 0-100 or -3..3" in err


@pytest.mark.parametrize("arguments", [[], ["--scale", "1-7"]])
def test_without_a_file(capsys, arguments):
    code, _, err = call(capsys, *arguments)
    assert code == 1
    assert "--replies: got nothing; expected a file" in err
