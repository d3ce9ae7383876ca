"""The social-meaning paper's figures, from its public replies' cells and people's cells."""

from __future__ import annotations

import csv
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from felicity.stats.alignment import Comparison, align
from felicity.stats.cells import Axes, Cells, pool_scenarios, weighting_shift
from felicity.stats.effects import define_effect, effect_intervals

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = Path(os.environ.get("FELICITY_SHARED", ROOT.parent / "shared")) / "data/social-meaning"
REFERENCE = ROOT / "src/felicity/studies/social-meaning/reference.csv"

AXES = Axes(
    scenarios=("house", "cinema", "conference", "bicycle", "office", "pasta"),
    factors={"context": ("high", "low"), "form": ("precise", "approximate")},
    attributes=(
        "competent",
        "knowledgeable",
        "well-prepared",
        "helpful",
        "likeable",
        "pedantic",
    ),
)
EFFECTS = tuple(
    [
        define_effect(AXES, "main", ("form",), a)
        for a in ("competent", "knowledgeable", "well-prepared", "helpful", "pedantic")
    ]
    + [
        define_effect(AXES, "interaction", ("form", "context"), a)
        for a in ("competent", "knowledgeable", "well-prepared", "helpful", "likeable")
    ]
)

# As the paper's tables give them: spearman, ccc (as published), rmse, cds_main, cds_interaction,
# cds; and the CCC by Lin's formula where it was worked out apart.
PUBLISHED = {
    ("MIN", "gpt"): (0.856, 0.703, 0.811, 0.325, 0.460, 0.393, 0.734),
    ("MIN", "claude"): (0.849, 0.730, 0.766, 0.848, 0.231, 0.539, 0.759),
    ("MIN", "gemini"): (0.910, 0.622, 1.262, 1.389, 1.572, 1.480, 0.648),
    ("ALT", "gpt"): (0.880, 0.812, 0.565, 0.303, 0.392, 0.348, None),
    ("ALT", "claude"): (0.847, 0.754, 0.724, 1.235, 0.205, 0.720, None),
    ("ALT", "gemini"): (0.908, 0.576, 1.422, 1.717, 2.470, 2.094, None),
}


def read_cells(path: Path, scenarios: tuple[str, ...], where: dict[str, str]) -> Cells:
    shape = (len(scenarios), *AXES.shape[1:])
    mean, sd = np.full(shape, np.nan), np.full(shape, np.nan)
    n, asked = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if all(r[k] == v for k, v in where.items())]
    for row in rows:
        place = (
            scenarios.index(row.get("scenario", "all")),
            AXES.points.index((row["context"], row["form"])),
            AXES.attributes.index(row["attribute"].replace("_", "-")),
        )
        mean[place], sd[place], n[place] = float(row["mean"]), float(row["sd"]), int(row["n"])
        asked[place] = int(row.get("asked", row["n"]))
    assert len(rows) == mean.size
    assert np.isfinite(mean).all()
    return Cells(mean=mean, sd=sd, n=n, asked=asked)


@pytest.fixture(scope="module")
def people() -> Cells:
    return read_cells(REFERENCE, AXES.scenarios, {})


def model_cells(prompting: str, model: str) -> Cells:
    where = {"prompting": prompting, "model": model}
    return read_cells(HERE / "published_cells.csv", ("all",), where)


@pytest.mark.parametrize(("prompting", "model"), PUBLISHED)
def test_published_figures_come_out(people, prompting, model):
    cells = model_cells(prompting, model)
    *published, lin = PUBLISHED[prompting, model]
    found = align(cells, people, Comparison(effects=EFFECTS, ccc="as_published"))
    got = (found.spearman, found.ccc, found.rmse, found.cds_main, found.cds_interaction, found.cds)
    assert [round(float(value), 3) for value in got] == published
    assert (float(found.das), float(found.iss), int(found.cells)) == (1.0, 1.0, 24)
    honest = align(cells, people, Comparison(effects=EFFECTS))
    assert honest.ccc > found.ccc
    if lin is not None:
        assert round(float(honest.ccc), 3) == lin


def test_rmse_against_individuals(people):
    found = align(model_cells("MIN", "gpt"), people, Comparison(effects=EFFECTS))
    assert round(float(found.rmse_individuals), 3) == 1.542


def test_claude_min_lacks_98_replies():
    cells = model_cells("MIN", "claude")
    assert (int(cells.asked.sum()), int(cells.n.sum())) == (1440, 1342)


def test_peoples_24_cells_are_the_144_pooled(people):
    path = SHARED / "human_cell_means_24.csv"
    if not path.is_file():
        pytest.skip(f"needs the shared data at {SHARED}")
    given = pool_scenarios(read_cells(path, ("all",), {}))
    pooled = pool_scenarios(people)
    np.testing.assert_allclose(pooled.mean, given.mean, rtol=1e-12)
    np.testing.assert_allclose(pooled.sd, given.sd, rtol=1e-12)
    assert (pooled.n == given.n).all()


def test_peoples_weighting_matters_a_little(people):
    shift = np.abs(weighting_shift(people))
    assert 0.005 < shift.max() < 0.2


def test_ten_effects_stand_and_two_do_not(people):
    every = [
        (name, kind, define_effect(AXES, kind, factors, name))
        for kind, factors in (("main", ("form",)), ("interaction", ("form", "context")))
        for name in AXES.attributes
    ]
    found = effect_intervals(pool_scenarios(people), [effect for _, _, effect in every])
    weak = {(n, k) for (n, k, _), touches in zip(every, found.touches_zero, strict=True) if touches}
    assert weak == {("likeable", "main"), ("pedantic", "interaction")}


def test_published_cells_come_from_the_replies():
    if not (SHARED / "published_replies_MIN.jsonl").is_file():
        pytest.skip(f"needs the shared data at {SHARED}")
    spec = importlib.util.spec_from_file_location("make", HERE / "make_published_cells.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    with (HERE / "published_cells.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == make.published_cells(SHARED)
