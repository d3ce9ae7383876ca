"""What values show in a notebook is well-formed, escaped, and says what they hold."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import felicity
from felicity.report import text_table
from felicity.report.text_table import TextTable

VOID = {"br", "img", "col", "meta", "link", "hr", "input"}


class _Checked(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += f"{data} "


def shown(value) -> str:
    page = _Checked()
    page.feed(value._repr_html_())
    assert page.open == []
    assert "table" in page.seen
    assert not page.seen & {"script", "iframe"}
    return " ".join(page.text.split())


@pytest.fixture(scope="module")
def run(smollm2, tmp_path_factory):
    return felicity.run("gricean-maxims", smollm2, tmp_path_factory.mktemp("run"), limit=3)


def test_in_a_console_a_line_says_what_it_is(gricean, run):
    assert repr(gricean) == "Study('gricean-maxims', 2,250 items)"
    assert repr(felicity.load_study("social-meaning")) == "RatingStudy('social-meaning', 144 items)"
    assert repr(run) == f"Run('{run.folder}', 6 of 6 responses)"
    assert repr(felicity.analyse(run)).startswith(
        "Analysis('gricean-maxims': SmolLM2-135M-Instruct"
    )


def test_studies(gricean):
    text = shown(gricean)
    assert gricean.title in text
    assert "2,250 (125 units)" in text
    text = shown(felicity.load_study("social-meaning"))
    assert "each rated from 1 to 7" in text
    assert "MIN, ALT, KMA, COM" in text


def test_a_run(run):
    text = shown(run)
    assert "SmolLM2-135M-Instruct (Q4_1) on gricean-maxims" in text
    assert "6 of 6 asked" in text
    assert "6 ok" in text


def test_an_analysis_shows_its_main_table(run):
    text = shown(felicity.analyse(run))
    assert "Quantity II" in text
    assert "Children 6–7" in text
    assert "3 of 3" in text


HOSTILE = TextTable(
    name="t", title="A < B", header=("who", "x"), rows=(("<script>alert(1)</script>", "1"),), left=1
)


@pytest.mark.parametrize("installed", [True, False])
def test_cells_are_escaped_with_and_without_great_tables(installed, monkeypatch):
    if not installed:
        monkeypatch.setattr(text_table, "find_spec", lambda _name: None)
    text = shown(HOSTILE)
    assert "<script>alert(1)</script>" in text
    assert "A < B" in text
