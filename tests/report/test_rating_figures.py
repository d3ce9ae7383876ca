"""Figures of rating studies: their marks by a second route, and what stands in the SVG."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from felicity.rating.parse import PARSER_VERSION, parse_reply
from felicity.rating.parsing import Parser
from felicity.rating.replay import replay
from felicity.rating.replay_reader import read_collection
from felicity.report import analyse_ratings, describe_ratings
from felicity.report.figures import COLUMN, spec_of
from felicity.report.rating.charts import WIDE
from felicity.report.rating.figures import rating_figures
from felicity.report.rating.marks import (
    PEOPLE as WHO_PEOPLE,
)
from felicity.report.rating.marks import (
    bins_of,
    cds_marks,
    cell_marks,
    esr_marks,
    profile_marks,
    reply_marks,
    roles_of,
)
from felicity.study import load_rating_study
from felicity.types import Scale

from rating_folders import PEOPLE, TOML, replies, write_rating_study, write_replies

PARSER = Parser(parse=parse_reply, version=PARSER_VERSION)
HELPFUL = [key for key in PEOPLE if key[2] == "helpful"]


@pytest.fixture
def study(tmp_path):
    return load_rating_study(write_rating_study(tmp_path / "study"))


def uneven(cell, repeat):
    """Ratings that differ by scene, cell and repeat; the shop loses one in four."""
    if cell[0] == "shop" and repeat == 3:
        return "no idea"
    return str(1 + (len("".join(cell)) * 3 + repeat * 2) % 7)


def run_of(study, tmp_path, text, *, models=("parrot",), promptings=("MIN",)):
    entries = [entry for model in models for prompting in promptings
               for entry in replies(text, model=model, prompting=prompting)]  # fmt: skip
    tmp_path.mkdir(exist_ok=True)
    file = write_replies(tmp_path / "replies.jsonl", entries)
    collection = read_collection([(file, None)], study)
    return [done.run for done in replay(collection, study, tmp_path / "runs", PARSER)]


def analyse(study, tmp_path, text, **options):
    return analyse_ratings(run_of(study, tmp_path, text, **options), study, n_resamples=60)


def ratings_by_cell(text):
    """Usable ratings of each design cell, from the replies' texts alone."""
    heaps = {}
    for entry in replies(text):
        form = {"approx": "approximate"}.get(entry["utterance"], entry["utterance"])
        key = (entry["context"], form, entry["attribute"])
        if re.fullmatch("[1-7]", entry["raw_response"]):
            heaps.setdefault(key, []).append(int(entry["raw_response"]))
    return heaps


def svg_of(figure):
    import vl_convert

    return vl_convert.vegalite_to_svg(spec_of(figure))


def width_of(svg):
    return float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])


def drawn(svg, kind):
    """Count the marks of a kind; those of legends and axes are not among them."""
    marked = re.findall(r'<g class="mark-(\w+) role-mark[^"]*"[^>]*[^/]>(.*?)</g>', svg, re.S)
    return sum(body.count("<path") + body.count("<text") + body.count("<line")
               for name, body in marked if name == kind)  # fmt: skip


# Marks --------------------------------------------------------------------------------------


def test_cell_marks_are_the_replies_means(study, tmp_path):
    marks = cell_marks(analyse(study, tmp_path, uneven))
    heaps = ratings_by_cell(uneven)
    assert marks.height == len(heaps) == 8
    for row in marks.iter_rows(named=True):
        key = tuple(row["cell"].split(", "))
        assert row["mean"] == pytest.approx(np.mean(heaps[key]))
        assert row["people"] == pytest.approx(PEOPLE[key])
        assert row["usable"] == f"{len(heaps[key])} of 8"
        assert row["low"] <= row["mean"] <= row["high"]
        assert row["people_low"] < row["people"] < row["people_high"]


def test_profile_marks_have_people_and_participant_at_each_point(study, tmp_path):
    analysis = analyse(study, tmp_path, uneven)
    heaps, marks = ratings_by_cell(uneven), profile_marks(analysis)
    assert marks.height == 2 * len(heaps)
    for row in marks.iter_rows(named=True):
        key = (row["line"], row["x"], row["panel"])
        expected = PEOPLE[key] if row["who"] == WHO_PEOPLE else np.mean(heaps[key])
        assert row["mean"] == pytest.approx(expected)


def test_reply_marks_are_shares_of_usable_replies(study, tmp_path):
    marks = reply_marks(analyse(study, tmp_path, uneven))
    heaps = ratings_by_cell(uneven)
    assert marks.height == 8 * 7
    for row in marks.iter_rows(named=True):
        heap = np.array(heaps[row["line"], row["x"], row["panel"]])
        share = np.mean((heap > row["from"]) & (heap < row["to"]))
        assert abs(row["share"]) == pytest.approx(share)
        assert math.copysign(1, row["share"] or row["side"]) == row["side"]
        assert row["side"] == (1 if row["x"] == "precise" else -1)


def test_ratios_are_capped_in_colour_and_printed_whole(study, tmp_path):
    analysis = analyse(study, tmp_path, lambda c, _: "7" if c[2] == "precise" else "1")
    marks = esr_marks(analysis)
    # Effects of the model 6, 0 and 6; people's 1.5, 1 and 0.1, which is unstable.
    assert marks["esr"].to_list() == pytest.approx([4, 0, 60])
    assert marks["shown"].to_list() == pytest.approx([4, 0, 4.5])
    assert marks["printed"].to_list() == ["4.00", ".00", "60*†"]
    assert marks["people_effect"].to_list() == pytest.approx([1.5, 1, 0.1])
    backwards = esr_marks(analyse(study, tmp_path / "b", lambda c, _: "1" if c[2] == "precise" else "7"))  # fmt: skip  # noqa: E501
    assert backwards["printed"].to_list() == ["−4.00*", ".00", "−60*†"]
    assert backwards["shown"].to_list() == pytest.approx([-1, 0, -1])


def test_deviations_are_the_means_of_the_ratios(study, tmp_path):
    analysis = analyse(study, tmp_path, uneven)
    ratios = np.array(esr_marks(analysis)["esr"])
    off = np.abs(ratios - 1)
    marks = {row["measure"]: row for row in cds_marks(analysis).iter_rows(named=True)}
    assert marks["CDS_m"]["value"] == pytest.approx(off[[0, 2]].mean())
    assert marks["CDS_i"]["value"] == pytest.approx(off[1])
    assert marks["CDS"]["value"] == pytest.approx(off.mean())
    assert all(row["low"] < row["high"] for row in marks.values())


def test_roles_come_from_the_interaction_and_else_from_the_factors(study):
    assert (roles_of(study).x, roles_of(study).line) == ("form", "context")
    bare = replace(study, effects=())
    assert (roles_of(bare).x, roles_of(bare).line) == ("form", "context")


def test_a_long_scale_is_put_into_twenty_bins():
    edges = bins_of(Scale(low=0, high=100, low_label="a", high_label="b"))
    assert len(edges) == 21
    assert (edges[0], edges[-1]) == (-0.5, 100.5)


# Drawings -----------------------------------------------------------------------------------


def test_every_figure_has_its_marks(study, tmp_path):
    analysis = analyse(study, tmp_path, uneven, promptings=("MIN", "ALT"))
    found = {figure.name: figure for figure in rating_figures(analysis)}
    assert list(found) == [
        "cells", "cells-wide", "esr", "esr-wide", "cds", "means-parrot", "means-parrot-wide",
        "replies-parrot-min", "replies-parrot-alt",
    ]  # fmt: skip
    assert all(figure.title and figure.caption for figure in found.values())
    svg = {name: svg_of(figure) for name, figure in found.items()}
    for name, text in svg.items():
        assert width_of(text) <= (WIDE if name.endswith("wide") else COLUMN) + 10, name
    # Eight cells under two promptings; three effects under two; three measures under two.
    assert drawn(svg["cells"], "symbol") == 16
    assert drawn(svg["esr"], "rect") == drawn(svg["esr"], "text") == 6
    assert drawn(svg["cds"], "symbol") == 6
    # People and the participant at eight cells, in two panels each.
    assert drawn(svg["means-parrot"], "symbol") == 32
    assert drawn(svg["means-parrot"], "line") == 16
    assert drawn(svg["replies-parrot-min"], "rect") == 8 * 7
    assert drawn(svg["replies-parrot-min"], "rule") == 8


def test_eight_models_fit_the_columns(study, tmp_path):
    models = [f"a-model-with-a-long-name-{number}" for number in range(8)]
    analysis = analyse(study, tmp_path, uneven, models=models, promptings=("MIN", "ALT"))
    found = {figure.name: figure for figure in rating_figures(analysis)}
    assert len(found) == 2 + 2 + 1 + 16 + 16
    svg = {name: svg_of(found[name]) for name in ("cells", "esr", "cds", "esr-wide")}
    for name, text in svg.items():
        assert width_of(text) <= (WIDE if name.endswith("wide") else COLUMN) + 10, name
    assert drawn(svg["esr"], "rect") == 8 * 2 * 3
    assert drawn(svg["cells"], "symbol") == 8 * 2 * 8


def test_a_cell_without_a_reply_has_no_mark(study, tmp_path):
    lost = ("high", "precise", "helpful")
    analysis = analyse(study, tmp_path, lambda c, r: "" if c[1:] == lost else uneven(c, r))
    found = {figure.name: figure for figure in rating_figures(analysis)}
    assert drawn(svg_of(found["cells"]), "symbol") == 7
    # Its ratios are unknown, and said to be.
    assert esr_marks(analysis)["printed"].to_list()[:2] == ["–", "–"]
    assert drawn(svg_of(found["means-parrot"]), "symbol") == 15
    shares = reply_marks(analysis).filter(line="high", x="precise", panel="helpful")["share"]
    assert shares.to_list() == [0] * 7


def test_nothing_usable_draws_what_there_is(study, tmp_path):
    analysis = analyse(study, tmp_path, lambda _c, _r: "")
    names = [figure.name for figure in rating_figures(analysis)]
    assert names == ["esr", "esr-wide", "means-parrot", "means-parrot-wide", "replies-parrot-min"]
    esr = next(figure for figure in rating_figures(analysis) if figure.name == "esr")
    assert drawn(svg_of(esr), "text") == 3


def test_a_study_without_people_has_means_and_replies(tmp_path):
    toml = re.sub(r"\[reference\].*?\n\n", "", TOML, flags=re.S)
    toml = re.sub(r"\[\[effect\]\].*", "", toml, flags=re.S)
    study = load_rating_study(write_rating_study(tmp_path / "study", toml=toml))
    described = describe_ratings(run_of(study, tmp_path, uneven), study, n_resamples=60)
    found = {figure.name: figure for figure in rating_figures(described)}
    assert list(found) == ["means-parrot", "means-parrot-wide", "replies-parrot-min"]
    assert drawn(svg_of(found["means-parrot"]), "symbol") == 8
    assert drawn(svg_of(found["replies-parrot-min"]), "rule") == 0


def test_names_that_make_the_same_stem_keep_files_apart(study, tmp_path):
    runs = [run_of(study, tmp_path / str(n), uneven, models=(name,))[0]
            for n, name in enumerate(("a b", "a-b"))]  # fmt: skip
    analysis = analyse_ratings(runs, study, n_resamples=60)
    names = [figure.name for figure in rating_figures(analysis)]
    assert len(set(names)) == len(names)
    assert {"means-a-b", "means-a-b-2"} <= set(names)
