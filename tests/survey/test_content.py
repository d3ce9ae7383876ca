"""What a survey says, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from felicity.cli import app
from felicity.errors import FaultsError, FelicityError, OptionError
from felicity.study import load_study
from felicity.survey.content import SurveyOptions, read_consent, survey_content
from felicity.survey.make import PUBLIC, SCRIPTS, read_survey, write_survey
from felicity.survey.store import ANSWERS, AnswerStore
from felicity.survey.texts import languages, read_texts

from surveying import SURVEY, choice_study, content_of, rating_study

ROOT = Path(__file__).parents[2]


def test_a_dialogue_is_shown_as_the_study_writes_it_and_not_what_it_is_about(gricean):
    content = content_of(gricean)
    stimulus = content["stimuli"]["quality-05-3-w0-Joan-Leslie"]
    item = next(i for i in gricean.items if i.item_id == "quality-05-3-w0-Joan-Leslie")
    assert stimulus["context"] == f"Joan: {item.question}\nLeslie:"
    assert stimulus["answers"] == dict(item.answers)
    assert content["asked_for"] == "violator"
    told = json.dumps([content["title"], content["texts"], content["consent"]]).lower()
    assert "maxim" not in told
    assert gricean.title not in json.dumps(content)


def test_a_scene_is_shown_without_the_task_and_every_attribute_is_asked():
    study = load_study("social-meaning")
    content = content_of(study)
    stimulus = content["stimuli"]["house-high-precise"]
    assert len(content["stimuli"]) == 24
    assert "September 15, 1983" in stimulus["scene"][0]
    assert "whole number" not in json.dumps(content["stimuli"])
    assert [name for name, _ in stimulus["questions"]] == list(study.attributes)
    assert stimulus["questions"][0][1] == (
        "Going by this scene, how competent does Martin seem to you?"
    )
    assert content["instructions"][0].startswith("You will read a short scene")


def test_the_section_names_question_and_pick(tmp_path):
    content = content_of(choice_study(tmp_path / "s", SURVEY))
    assert content["asked_for"] == "weak"
    assert content["stimuli"]["all-0-Bo"]["question"] == "Which is odd, Bo wonders?"
    assert content_of(choice_study(tmp_path / "t"))["asked_for"] == "strong"


def test_within_is_told_by_the_section(tmp_path):
    between = content_of(rating_study(tmp_path / "a"))
    within = content_of(rating_study(tmp_path / "b", '\n[survey]\nlayout = "within"\n'))
    assert ([len(e) for e in between["lists"]], [len(e) for e in within["lists"]]) == (
        [2, 2, 2, 2],
        [8],
    )


def test_every_fault_of_the_section_is_told_at_once(tmp_path):
    wrong = '\n[survey]\nquestion = "Is {it}?"\npick = "best"\nlayout = "x"\nlayuot = 1\n'
    with pytest.raises(FaultsError) as caught:
        choice_study(tmp_path / "s", wrong)
    told = str(caught.value)
    assert 'survey.question: got "{it}"; expected one of {answer' not in told
    assert 'survey.question: got "{it}"; expected one of {asker}, {item_id}' in told
    assert 'survey.pick: got "best"; expected one of strong, weak' in told
    assert 'survey.layuot: got "a key"; expected one of question, pick' in told
    assert 'survey.layout: got "x"; expected one of between, within' in told
    with pytest.raises(FaultsError, match='survey: got "5"; expected a table'):
        load_study(_with_first_line(tmp_path / "t", "survey = 5\n"))


def _with_first_line(folder: Path, line: str) -> Path:
    choice_study(folder)
    toml = folder / "study.toml"
    toml.write_text(line + toml.read_text("utf-8"), encoding="utf-8")
    return folder


def test_prompts_that_do_not_hold_the_scene_alone_are_refused(tmp_path):
    from rating_folders import write_rating_study

    study = load_study(write_rating_study(tmp_path / "r"))
    with pytest.raises(FelicityError, match=r"two-scenes: the blocks of MIN .* do not tell scenes"):
        content_of(study)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"ask": ("age", "shoe")}, '--ask: got "shoe"; expected one of age, gender, languages'),
        ({"ask": ("age", "age")}, "--ask: got age, age; expected each once"),
        ({"checks": -1}, "--checks: got -1; expected 0 or more"),
        ({"url": "javascript:alert(1)"}, '--completion-url: got "javascript:alert(1)"; expected'),
        ({"per_level": 2}, "--per-level: got 2; expected none in a rating study"),
        ({"format": "plain"}, "--format: got plain; expected none in a rating study"),
    ],
)
def test_options_that_are_not_allowed(tmp_path, options, told):
    with pytest.raises(OptionError, match=re.escape(told)):
        content_of(rating_study(tmp_path / "r"), **options)


def test_all_languages_have_all_texts_and_the_same_placeholders():
    english = read_texts("en")
    for language in languages():
        own = read_texts(language)
        assert set(own) == set(english)
        for name, text in own.items():
            assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", english[name]))
            assert len(own["check_words"].split(",")) >= 2


def test_texts_of_a_file_are_checked_whole(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('title = "Une étude"\nnxt = "Suite"\n', encoding="utf-8")
    with pytest.raises(FaultsError) as caught:
        read_texts("fr", path)
    assert 'mine.toml, next: got "nothing"; expected a text' in str(caught.value)
    assert 'mine.toml, nxt: got "a key"; expected one of about_you' in str(caught.value)
    with pytest.raises(
        OptionError, match='--texts: got a study in "fr"; there are texts in de, en'
    ):
        read_texts("fr")


def test_consent_of_a_file_takes_the_place_of_the_template(tmp_path, gricean):
    path = tmp_path / "consent.txt"
    path.write_text("You may <b>stop</b>.\nAt any time.\n\nAgreed?\n", encoding="utf-8")
    content = content_of(gricean, consent=read_consent(path))
    assert content["consent"] == ["You may <b>stop</b>.\nAt any time.", "Agreed?"]
    assert not content["draft"]
    assert content_of(gricean)["draft"]
    path.write_text(" \n", encoding="utf-8")
    with pytest.raises(FelicityError, match="the file is empty"):
        read_consent(path)


def test_the_survey_id_changes_with_whatever_participants_see(gricean):
    base = content_of(gricean)["survey"]
    assert base == content_of(gricean)["survey"]
    others = [
        content_of(gricean, checks=1),
        content_of(gricean, consent="x"),
        content_of(gricean, per_level=3),
        survey_content(gricean, SurveyOptions(texts=read_texts("de"))),
    ]
    assert len({base, *(each["survey"] for each in others)}) == 5


def test_a_survey_comes_back_from_its_folder_as_it_was(tmp_path, gricean):
    content = content_of(gricean, per_level=1)
    write_survey(tmp_path, content)
    assert read_survey(tmp_path) == content
    assert all((tmp_path / name).is_file() for name in PUBLIC)
    with pytest.raises(FelicityError, match=r"got no survey-data.js that can be read"):
        read_survey(tmp_path / "vendor")


def test_answers_to_two_surveys_are_never_mixed(tmp_path, gricean):
    first, second = content_of(gricean, per_level=1), content_of(gricean, per_level=2)
    write_survey(tmp_path, first)
    write_survey(tmp_path, second)
    with AnswerStore(tmp_path / ANSWERS):
        write_survey(tmp_path, second)
        with pytest.raises(FelicityError, match="holds answers to the survey"):
            write_survey(tmp_path, first)


def test_the_page_asks_for_nothing_from_elsewhere():
    page = files("felicity.survey").joinpath("page")
    html = page.joinpath("index.html").read_text("utf-8")
    for target in re.findall(r'(?:src|href)="([^"]*)"', html):
        assert target in PUBLIC or target == "data:,"
    for name in (*SCRIPTS, "style.css"):
        assert "://" not in page.joinpath(name).read_text("utf-8")


def test_vendored_files_are_those_that_were_built():
    folder = files("felicity.survey").joinpath("page/vendor")
    sums = [line.split() for line in folder.joinpath("SHA256SUMS").read_text("utf-8").splitlines()]
    assert {name for _, name in sums} == {"vendor.js", "LICENSES.txt"}
    for wanted, name in sums:
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() == wanted
    licences = folder.joinpath("LICENSES.txt").read_text("utf-8")
    lock = json.loads((ROOT / "tools/survey/package-lock.json").read_text("utf-8"))
    for name, entry in lock["packages"].items():
        if name:
            assert entry["integrity"].startswith("sha512-")
            assert "resolved" not in entry
        if name and not entry.get("dev") and "type-fest" not in name:
            assert f"{name.removeprefix('node_modules/')} {entry['version']}" in licences


def test_make_says_what_it_made(tmp_path):
    done = CliRunner().invoke(
        app, ["survey", "make", "social-meaning", "--out", str(tmp_path / "s"), "--json"]
    )
    told = json.loads(done.stdout)
    assert told | {"survey": ""} == {
        "page": str(tmp_path / "s" / "index.html"),
        "survey": "",
        "lists": 4,
        "trials": [6],
        "draft": True,
    }


def test_a_mistake_ends_in_a_message(tmp_path):
    words = ["--out", str(tmp_path / "s"), "--consent", str(tmp_path / "none.txt")]
    done = subprocess.run(
        [sys.executable, "-m", "felicity", "survey", "make", "gricean-maxims", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "none.txt: No such file or directory; expected a text file in UTF-8" in done.stderr
    assert "Traceback" not in done.stderr
