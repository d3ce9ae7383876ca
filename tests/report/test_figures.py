"""Figures are written in three forms; tables in four."""

from __future__ import annotations

import re

import altair as alt
import polars as pl
import pytest

from felicity.errors import RunError
from felicity.report.content import ReportContent, write_content
from felicity.report.figures import COLUMN, Figure, spec_of, write_figures
from felicity.report.text_table import TextTable, as_html, as_latex, as_markdown

TABLE = TextTable(
    name="table2",
    title="Accuracy <b> & more",
    header=("Who", "What", "Share"),
    rows=(("A|b", "x_1", ".50"), ("Adults", "–", "1.00")),
    people=1,
    note="A note.",
    bold=frozenset({(0, 2)}),
)


def figure(values=(0.1, 0.5, 0.9)) -> Figure:
    data = pl.DataFrame({"x": list(range(len(values))), "y": list(values)})
    chart = alt.Chart(data, width=COLUMN, height=120).mark_circle().encode(x="x:Q", y="y:Q")
    return Figure(name="dots", title="Dots", caption="Three dots.", chart=chart)


def test_each_figure_is_written_in_each_format(tmp_path):
    paths = write_figures([figure()], tmp_path / "figures")
    assert sorted(paths) == ["dots.pdf", "dots.png", "dots.svg"]
    svg = paths["dots.svg"].read_text()
    assert len(re.findall(r'aria-roledescription="circle"', svg)) == 3
    assert paths["dots.pdf"].read_bytes().startswith(b"%PDF")
    assert paths["dots.png"].read_bytes().startswith(b"\x89PNG")


def test_the_look_is_in_the_specification():
    spec = spec_of(figure())
    assert spec["config"]["range"]["category"][0] == "#0072b2"
    assert {row["y"] for rows in spec["datasets"].values() for row in rows} == {0.1, 0.5, 0.9}


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="figures cannot be written"):
        write_figures([figure()], tmp_path / "file" / "figures")


def test_bold_cells_and_peoples_rule_in_each_form():
    assert "**.50**" in as_markdown(TABLE)
    assert r"A\|b" in as_markdown(TABLE)
    assert r"\textbf{.50}" in as_latex(TABLE)
    html = as_html(TABLE)
    assert "&lt;b&gt; &amp; more" in html
    assert re.search(r"font-weight: bold[^>]*>\.50<", html)
    assert "border-top: 1.5px" in html


def test_content_goes_to_its_files(tmp_path):
    content = ReportContent(
        title="A study",
        ran=TABLE,
        headline=("It was found.",),
        cautions=(),
        tables=(TABLE,),
        figures=(figure(),),
        results=pl.DataFrame({"participant": ["a"], "accuracy": [0.5]}),
        methods="We ran it.",
        citations="@misc{a}\n",
        values={"a": 1},
    )
    paths = write_content(content, tmp_path, {"accuracy.csv": "a\n"})
    assert set(paths) == {
        "methods.md",
        "citations.bib",
        "report.json",
        "accuracy.csv",
        "results.parquet",
        *(f"tables/table2.{ending}" for ending in ("md", "tex", "csv", "html")),
        *(f"figures/dots.{ending}" for ending in ("svg", "pdf", "png")),
    }
    assert all(path.is_file() for path in paths.values())
    assert pl.read_parquet(paths["results.parquet"])["accuracy"].to_list() == [0.5]
