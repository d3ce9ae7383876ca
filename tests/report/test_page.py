"""What stands in report.html, read back without a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from felicity import open_participant, run
from felicity.cli import app
from felicity.rating.run import JOURNAL, read_ratings
from felicity.report.page import build_page, is_page_of
from felicity.report.page.build import page_names
from felicity.report.page.choice import _outcome
from felicity.report.page.pack import inline_json
from felicity.runner import read_run

from pages import SCRIPT, TURNED, content, write_rating_page

ROOT = Path(__file__).parents[2]
LINK = re.compile(
    r"""(?:src|href)=(?!["']?(?:#|data:))|https?://(?!www\.w3\.org)|@import|url\((?!data:)"""
)


def block(text: str, name: str):
    packed = re.search(f'<script type="text/plain" id="block-{name}">([^<]*)</script>', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def described(text: str):
    return json.loads(re.search(r'id="report">(.*?)</script>', text, re.DOTALL)[1])


def column(rows, name: str) -> list:
    return [rows[name]["levels"][code] for code in rows[name]["codes"]]


@pytest.fixture(scope="module")
def rating_text(tmp_path_factory) -> tuple[Path, str]:
    path = write_rating_page(tmp_path_factory.mktemp("rating"))
    return path.parent, path.read_text("utf-8")


@pytest.fixture(scope="module")
def choice_run(tmp_path_factory, tiny_gpt2_folder, gricean):
    participant = open_participant(f"hf:{tiny_gpt2_folder}")
    return run(gricean, participant, tmp_path_factory.mktemp("choice") / "run", limit=40)


def test_every_response_of_a_run_by_log_probability_is_in_the_page(choice_run, gricean):
    text = build_page(content(), [choice_run], gricean)
    items, rows = block(text, "items"), block(text, "run-0")
    responses = choice_run.responses
    for label in gricean.design.answers:
        theirs = responses.filter(responses["answer_label"] == label)
        side = rows["sides"][label]
        assert [items["id"][place] for place in rows["item"]] == theirs["item_id"].to_list()
        assert side["lengths"] == theirs["n_tokens"].to_list()
        assert column(side, "tokens") == [t for answer in theirs["tokens"] for t in answer]
        nats = [value for answer in theirs["log_probs"] for value in answer]
        assert [bits * 0.6931471805599453 for bits in side["bits"]] == pytest.approx(
            [-value for value in nats], abs=0.0036
        )
        assert side["scores"]["pmi"] == pytest.approx(theirs["pmi"].to_list(), abs=1e-4)


def test_the_same_runs_make_the_same_page(choice_run, gricean):
    assert build_page(content(), [choice_run], gricean) == build_page(
        content(), [choice_run], gricean
    )


@pytest.mark.parametrize(
    ("margin", "expected"),
    [
        (1.0, "r"),
        (-1.0, "w"),
        (0.0, "t"),
        # As in the tables (decision 4).
        (9e-6, "t"),
        (-9e-6, "t"),
        (2e-5, "r"),
        (None, "-"),
        (float("-inf"), "-"),
        (float("nan"), "-"),
    ],
)
def test_outcomes_are_of_unrounded_margins_with_the_tables_tie(margin, expected):
    assert _outcome(margin) == expected


def test_replies_requests_and_spans_are_in_the_page(rating_text):
    folder, text = rating_text
    rows = block(text, "run-0")
    responses = read_ratings(folder / "run-0").responses
    assert sorted(column(rows, "text")) == sorted(responses["text"].to_list())
    assert {SCRIPT, TURNED} <= set(rows["text"]["levels"])
    assert all(json.loads(m)[-1][0] == "user" for m in rows["messages"]["levels"])
    read = [
        (reply[slice(*span)], value)
        for reply, span, value in zip(
            column(rows, "text"), rows["span"], rows["value"], strict=True
        )
        if span
    ]
    assert read
    assert all(float(digits) == value for digits, value in read)


def test_people_stand_beside_every_item(rating_text):
    items = block(rating_text[1], "items")
    forms = column(items["factors"], "form")
    assert len(forms) == len(items["people"]) == 16
    assert all(cell[2] == 20 for cell in items["people"])


def test_the_page_asks_for_nothing_and_runs_one_script(rating_text):
    text = rating_text[1]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    data = re.sub(r"<script type=.*?</script>", "", text, flags=re.DOTALL)
    assert not LINK.findall(data.replace(scripts[0], ""))
    assert "</script" not in inline_json(SCRIPT)
    assert text.count("</script>") == text.count("<script")
    assert "<img" not in data


def test_half_a_surrogate_pair_does_not_stop_the_page():
    assert inline_json("a\ud800b") == '"a?b"'


def test_names_of_runs_are_told_apart_by_the_least_that_does(choice_run, tmp_path):
    from dataclasses import replace

    other = replace(
        choice_run,
        folder=tmp_path / "other",
        manifest=choice_run.manifest | {"format": {"name": "plain"}},
    )
    label = choice_run.label
    assert page_names([choice_run]) == [label]
    assert page_names([choice_run, other]) == [f"{label}, names", f"{label}, plain"]
    third = replace(other, folder=tmp_path / "third")
    assert page_names([choice_run, other, third]) == [
        f"{label}, names",
        f"{label}, plain, other",
        f"{label}, plain, third",
    ]
    assert len(set(page_names([third, third]))) == 2


def test_a_report_without_runs_has_no_items(gricean):
    text = build_page(content(), [], gricean)
    assert described(text)["participants"] == []
    assert "block-items" not in text
    assert 'id="block-figure-shares"' in text


def test_vendored_files_are_those_that_were_built():
    folder = files("felicity.report.page").joinpath("vendor")
    sums = folder.joinpath("SHA256SUMS").read_text("utf-8").split("\n")
    recorded = dict(line.split("  ")[::-1] for line in sums if line)
    assert set(recorded) == {"vendor.js", "LICENSES.txt"}
    for name, digest in recorded.items():
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() == digest


def test_libraries_have_fixed_versions_and_integrity_hashes():
    lock = json.loads((ROOT / "tools/frontend/package-lock.json").read_text("utf-8"))
    package = json.loads((ROOT / "tools/frontend/package.json").read_text("utf-8"))
    licences = files("felicity.report.page").joinpath("vendor/LICENSES.txt").read_text("utf-8")
    for name, wanted in package["dependencies"].items():
        entry = lock["packages"][f"node_modules/{name}"]
        assert entry["version"] == wanted
        assert entry["integrity"].startswith("sha512-")
        assert f"{name} {wanted}\n" in licences
    assert all("resolved" not in entry for entry in lock["packages"].values())


def test_view_writes_the_report_once_and_again_when_the_run_has_changed(choice_run, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    folder = choice_run.folder
    page = folder / "report" / "report.html"
    first = CliRunner().invoke(app, ["view", str(folder)])
    assert first.exit_code == 0, first.output
    assert opened == [page.resolve().as_uri()]
    assert is_page_of([folder], page)
    assert page.read_text("utf-8").count('id="block-run-') == 1
    written = page.stat().st_mtime_ns
    again = CliRunner().invoke(app, ["view", str(folder), "--no-open"])
    assert "there already" in again.stderr
    assert again.stdout.strip() == str(page)
    assert page.stat().st_mtime_ns == written
    assert len(opened) == 1
    assert len(read_run(folder).responses) == 80
    assert is_page_of([folder], page)
    os.utime(folder / JOURNAL)
    assert not is_page_of([folder], page)
    CliRunner().invoke(app, ["view", str(folder), "--no-open"])
    assert page.stat().st_mtime_ns > written
    assert is_page_of([folder], page)


def test_view_shows_a_rating_run(rating_text):
    folder, told = rating_text[0] / "run-1", rating_text[1]
    done = CliRunner().invoke(app, ["view", str(folder), "--no-open"])
    assert done.exit_code == 0, done.output
    text = Path(done.stdout.strip()).read_text("utf-8")
    assert block(text, "run-0") == block(told, "run-1")
    assert described(text)["tables"]
    assert all(f'id="block-figure-{f["name"]}"' in text for f in described(text)["figures"])


def test_view_refuses_what_is_no_run(tmp_path):
    done = CliRunner().invoke(app, ["view", str(tmp_path), "--no-open"])
    assert done.exit_code == 1
    assert "no run.json here" in str(done.exception)
