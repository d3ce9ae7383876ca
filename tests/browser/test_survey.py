"""A scripted participant in a real browser, from consent to file and from consent to reference."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from felicity.study import load_study
from felicity.survey.make import write_survey
from felicity.survey.store import ANSWERS, AnswerStore
from felicity.survey.take_in import import_answers

from surveying import SURVEY, choice_study, content_of, rating_study, serving

SCRIPT = "</script><img src=x onerror=\"document.title='taken'\"> <b>Yes</b>"
WAIT = "button.answer:enabled, fieldset.rating, .field, h1:has-text('Thank')"


@pytest.fixture
def visitor(chromium) -> Iterator[Any]:
    """A phone's page in which no script may fail and that asks only disk and loopback."""
    wrong: list[str] = []
    context = chromium.new_context(accept_downloads=True, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.set_default_timeout(20_000)
    ours = ("file:", "data:", "blob:", "http://127.0.0.1:")
    page.on("request", lambda r: r.url.startswith(ours) or wrong.append(r.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert not wrong


def consent(page) -> None:
    page.locator("[data-name=agree]").click()
    page.locator("[data-name=go]").click()


def digit(text: str) -> str:
    """What somebody rates who reads the attribute's last letter."""
    return str(ord(text[-1]) % 7 + 1)


def answer_all(page, pick) -> list[str]:
    """Answer until the end with the keyboard alone; return what was shown, in order."""
    shown: list[str] = []
    while True:
        page.wait_for_selector(WAIT)
        text = page.locator("#survey").inner_text()
        answers = page.locator("button.answer span").all_inner_texts()
        if "Thank you" in text:
            return shown
        shown.append(text)
        if answers:
            wanted = re.search("“(.+)”", text)
            place = answers.index(wanted[1]) if wanted else pick(text, answers)
            page.keyboard.press(("1", "ArrowRight")[place])
        elif page.locator("fieldset.rating").count():
            for legend in page.locator("legend").all_inner_texts():
                check = re.search(r"Please choose (\d)", legend)
                name = re.search(r"how (\S+) does", legend)
                page.keyboard.press(check[1] if check else digit(name[1]))
            page.keyboard.press("Enter")
        else:
            page.locator("#about-age").fill("31")
            page.keyboard.press("Enter")
        page.wait_for_function("text => survey.innerText !== text", arg=text)


def test_a_choice_study_from_consent_to_file(visitor, tmp_path, gricean):
    content = content_of(gricean, per_level=1, ask=("age",), code="C0DE", consent=SCRIPT)
    write_survey(tmp_path, content)
    address = (tmp_path / "index.html").as_uri()
    visitor.goto(f"{address}?PROLIFIC_PID=abc&STUDY_ID=st&list=7")
    assert SCRIPT in visitor.locator("#survey").inner_text()
    assert visitor.title() == "A study of language"
    assert visitor.evaluate("document.documentElement.scrollWidth") <= 360
    assert visitor.locator(".draft").count() == 0
    items = {item.item_id: item for item in gricean.items}
    expected = [items[name] for name in content["lists"][6]]
    violators = {item.answers["violator"] for item in expected}
    consent(visitor)
    with visitor.expect_download() as saved:
        shown = answer_all(visitor, lambda _, answers: int(answers[1] in violators))
    with visitor.expect_download() as as_csv:
        visitor.get_by_role("button", name="CSV").click()
    assert "C0DE" in visitor.locator("#survey").inner_text()
    assert len(shown) == 5 + 2 + 1
    for item in expected:
        (screen,) = [text for text in shown if f"{item.question}\n" in text]
        assert all(text in screen for text in item.answers.values())
        assert "Which answer is silly, rude, or does not fit?" in screen
    found = []
    for name, download in {"a.json": saved, "a.csv": as_csv}.items():
        path = tmp_path / name
        download.value.save_as(path)
        found.append(import_answers([path], gricean))
    assert found[0].answers.equals(found[1].answers)
    assert found[0].participants.equals(found[1].participants)
    assert found[0].participants["participant"].to_list() == ["abc"]
    assert found[0].participants["age"].to_list() == ["31"]
    assert found[0].reference["correct"].to_list() == [1] * 5
    assert {item.item_id for item in expected} == set(found[0].answers["item_id"])
    assert sorted(found[0].answers["first"].value_counts()["count"]) == [2, 3]
    assert {row["prolific_study"] for row in json.loads((tmp_path / "a.json").read_text())} == {
        "st"
    }


def test_a_rating_study_from_consent_to_the_servers_file(visitor, tmp_path):
    study = load_study("social-meaning")
    write_survey(tmp_path, content_of(study))
    with serving(tmp_path) as (address, _):
        visitor.goto(f"{address}?participant=ann")
        assert "not been written for this study" in visitor.locator(".draft").inner_text()
        consent(visitor)
        shown = answer_all(visitor, None)
        assert "have arrived" in visitor.locator("#survey").inner_text()
    assert len(shown) == 6 + 2
    assert visitor.evaluate("document.documentElement.scrollWidth") <= 360
    found = import_answers([tmp_path / ANSWERS], study)
    assert found.selection.counts()["kept"] == 1
    assert found.participants["participant"].to_list() == ["ann"]
    assert sorted(found.answers["scenario"]) == sorted(study.factors["scenario"])
    for row in found.answers.to_dicts():
        assert {name: str(row[name]) for name in study.attributes} == {
            name: digit(name) for name in study.attributes
        }


def test_a_server_that_is_gone_for_a_while_loses_nothing(visitor, tmp_path):
    study = choice_study(tmp_path / "study", SURVEY)
    folder = tmp_path / "survey"
    write_survey(folder, content_of(study, checks=0, consent="Yes?"))
    gone = []
    with serving(folder) as (address, _):
        visitor.goto(address)
        consent(visitor)
        visitor.route("**/api/rows", lambda route: gone.append(1) or route.abort())
        visitor.wait_for_selector("button.answer")
        for number in range(4):
            visitor.wait_for_selector(f"progress[value='{number}']")
            visitor.keyboard.press("1")
        visitor.wait_for_selector("body.offline")
        assert "Sending" in visitor.locator("#survey").inner_text()
        visitor.unroute("**/api/rows")
        visitor.get_by_role("heading", name="Thank you").wait_for()
        assert visitor.locator("body.offline").count() == 0
    assert gone
    with AnswerStore(folder / ANSWERS, read_only=True) as store:
        parts = [row["part"] for row in store.rows()]
    assert parts == ["trial"] * 4 + ["end"]


def test_who_does_not_agree_leaves_nothing(visitor, tmp_path, gricean):
    write_survey(tmp_path, content_of(gricean, per_level=1))
    with serving(tmp_path) as (address, _):
        visitor.goto(address)
        visitor.get_by_role("button", name="I do not agree").click()
        assert "nothing was kept" in visitor.locator("#survey").inner_text()
    with AnswerStore(tmp_path / ANSWERS, read_only=True) as store:
        assert store.count()["begun"] == 0


@pytest.mark.parametrize("keys", [["5", "Enter"], ["Enter"]])
def test_a_scene_is_not_left_before_all_is_rated(visitor, tmp_path, keys):
    write_survey(tmp_path, content_of(load_study("social-meaning"), checks=0))
    visitor.goto(Path(tmp_path / "index.html").as_uri())
    consent(visitor)
    visitor.wait_for_selector("fieldset.rating")
    for key in keys:
        visitor.keyboard.press(key)
    visitor.locator("input[type=submit]").click()
    assert visitor.locator("input:checked").count() == keys.count("5")
    assert visitor.locator("progress").get_attribute("value") == "0"


def test_a_wide_scale_is_typed(visitor, tmp_path):
    study = rating_study(tmp_path / "study", scale_high=100)
    write_survey(tmp_path / "survey", content_of(study, checks=0))
    visitor.goto((tmp_path / "survey" / "index.html").as_uri() + "?list=2")
    consent(visitor)
    with visitor.expect_download() as saved:
        for done in range(2):
            visitor.wait_for_selector(f"progress[value='{done}']")
            for field, value in zip(visitor.locator("fieldset input").all(), "73", strict=True):
                field.fill(value + str(done))
            visitor.keyboard.press("Enter")
    saved.value.save_as(tmp_path / "a.json")
    found = import_answers([tmp_path / "a.json"], study).answers.sort("place")
    given = [sorted(row) for row in found.select(study.attributes).iter_rows()]
    assert given == [[30, 70], [31, 71]]
    assert found["list"].to_list() == [2, 2]
