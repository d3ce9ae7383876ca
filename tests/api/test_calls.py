"""One call each: run, read, analyse, report, from a model's name or a participant."""

from __future__ import annotations

import json
import os

import pytest

import felicity
from felicity.errors import OptionError, RunError
from felicity.report.rating.analysis import RatingAnalysis

from conftest import embedded_folder
from fixtures.misbehaving_server import MisbehavingServer

MODEL = "embedded:smollm2-135m"
PART = {"wording": "0", "questioner": "Leslie", "responder": "Joan"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A choice run and a rating run by name, where the command line would put them."""
    embedded_folder("smollm2-135m")
    back = os.getcwd()  # noqa: PTH109
    folder = tmp_path_factory.mktemp("calls")
    os.chdir(folder)
    try:
        choice = felicity.run("gricean-maxims", MODEL, where=PART, limit=4)
        rating = felicity.run(
            "social-meaning",
            MODEL,
            method="expected",
            promptings=["MIN"],
            where={"scenario": "bicycle"},
        )
        yield folder, choice, rating
    finally:
        os.chdir(back)


def test_runs_lie_where_the_command_line_puts_them(made):
    folder, choice, rating = made
    assert choice.folder.as_posix() == "runs/gricean-maxims/smollm2-135m-names"
    assert rating.folder.as_posix() == "runs/social-meaning/smollm2-135m-expected"
    assert choice.responses.height == 8
    assert rating.responses.height == 24
    assert (folder / choice.folder / "responses.parquet").is_file()


def test_a_name_and_an_open_participant_give_the_same_numbers(made, smollm2, tmp_path):
    _, choice, _ = made
    other = felicity.run("gricean-maxims", smollm2, tmp_path, where=PART, limit=4)
    assert other.responses["log_prob_sum"].to_list() == choice.responses["log_prob_sum"].to_list()


def test_a_run_is_read_back_whatever_its_kind(made):
    _, choice, rating = made
    assert felicity.read_run(choice.folder).responses.equals(choice.responses)
    again = felicity.read_run(rating.folder)
    assert type(again) is type(rating)
    assert again.responses.equals(rating.responses)


def test_folders_and_runs_are_analysed_alike(made):
    _, choice, rating = made
    by_run, by_folder = felicity.analyse(choice), felicity.analyse([str(choice.folder)])
    assert by_run.participants[0].cells == by_folder.participants[0].cells
    assert isinstance(felicity.analyse(rating), RatingAnalysis)


def test_a_report_is_written_of_either_kind(made, tmp_path):
    _, choice, rating = made
    for run, name in ((choice, "gricean-maxims"), (rating.folder, "social-meaning")):
        paths = felicity.write_report(run, tmp_path / name)
        assert json.loads(paths["report.json"].read_text(encoding="utf-8"))["study"] == name
        assert paths["report.html"].stat().st_size > 10_000


def test_a_model_behind_an_api_is_asked(tmp_path, monkeypatch):
    with MisbehavingServer(reply="B") as server:
        monkeypatch.setenv("DESK_BASE_URL", server.url)
        monkeypatch.setenv("DESK_API_KEY", "key")
        model = "api:openai-api/desk/good-model"
        run = felicity.run("gricean-maxims", model, tmp_path, method="asked", where=PART, limit=2)
    cell = felicity.analyse(run).participants[0].cells["overall"]
    assert (run.trials.height, cell.usable, cell.correct) == (4, 4, 2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"repeats": 3}, "repeats: got 3; expected nothing, in a choice study"),
        ({"temperature": 1.0}, "temperature: got 1.0; expected nothing, in a choice study"),
        (
            {"method": "asked", "format": "plain"},
            "format: got plain; expected nothing, in an asked",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(options, text, tmp_path):
    with pytest.raises(OptionError) as caught:
        felicity.run("gricean-maxims", MODEL, tmp_path, **options)
    assert text in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_more_that_is_refused(made, smollm2, tmp_path):
    _, choice, rating = made
    for call, text in (
        (lambda: felicity.run("social-meaning", MODEL, format="names"), "in a rating study"),
        (
            lambda: felicity.run("social-meaning", MODEL, method="asked"),
            "expected one of sampled, expected",
        ),
        (lambda: felicity.run("social-meaning", smollm2, tmp_path), "expected one that replies"),
        (
            lambda: felicity.run("gricean-maxims", smollm2, tmp_path, method="pll_original"),
            'got "pll_original" for a participant that is open as logprob',
        ),
        (lambda: felicity.analyse(rating, score="pmi"), "in a rating study"),
        (lambda: felicity.analyse(choice, weighting="pooled"), "in a choice study"),
    ):
        with pytest.raises(OptionError) as caught:
            call()
        assert text in str(caught.value)
    with pytest.raises(RunError, match="choice and of rating studies"):
        felicity.analyse([choice, rating])
    with pytest.raises(RunError, match="no run was given"):
        felicity.analyse([])


def test_every_public_name_is_there():
    for name in felicity.__all__:
        assert getattr(felicity, name)
    assert set(felicity.__all__) <= set(dir(felicity))
