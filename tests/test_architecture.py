"""The rules of docs/decisions/0001: imports point one way, and start-up is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "felicity"
# How a value shows itself in a notebook is part of the value.
EVERYWHERE = {"types", "errors", "notebook"}
MAY_IMPORT = {
    "stats": {"stats"},
    "cluster": {"cluster", "participants"},
    "scoring": {"scoring"},
    "participants": {"participants", "scoring", "cache"},
    "study": {"study", "study_reader", "selection", "rating", "asked"},
    "study_reader": {"study", "folder_reader", "rating", "asked", "survey"},
    "survey": {"survey", "study", "rating", "folder_reader", "journal", "stats"}
    | {"reference_reader", "reference_model"},
    "asked": {"asked", "rating", "folder_reader", "study", "manifest", "participants", "tables"},
    "folder_reader": set(),
    "selection": {"study"},
    "rating": {
        "rating",
        "folder_reader",
        "selection",
        "study",
        "manifest",
        "journal",
        "participants",
        "scoring",
        "tables",
        "survey",
    },
    "journal": set(),
    "manifest": {"study", "rating"},
    "runner": {
        "study",
        "rating",
        "journal",
        "manifest",
        "responses",
        "given_scores",
        "participants",
        "scoring",
        "tables",
    },
    "precision": {"manifest", "participants", "stats", "runner"},
    "responses": {"study", "journal", "runner"},
    # Of scoring only `distribution`, which is without torch.
    "report": {"report", "stats", "study", "runner", "rating", "reference_reader"}
    | {"asked", "manifest", "precision", "scoring", "given_scores"},
    "experiment": {"experiment", "study", "rating", "asked", "participants", "journal", "manifest"}
    | {"runner"},
    "reference_reader": {"stats", "folder_reader", "rating", "study"},
    "reference_model": {"stats", "reference_reader"},
    "build": {
        "build",
        "study",
        "folder_reader",
        "checks",
        "wordfrequency",
        "stats",
        "rating",
        "participants",
        "manifest",
        "journal",
        "runner",
    },
    "checks": {"study", "stats", "wordfrequency"},
    "wordfrequency": {"stats"},
    "tables": set(),
    "notebook": set(),
    "running": {
        "running",
        "experiment",
        "asked",
        "rating",
        "participants",
        "cluster",
        "study",
        "runner",
    }
    | {"manifest", "precision"},
    "api": {
        "api",
        "experiment",
        "running",
        "asked",
        "manifest",
        "participants",
        "rating",
        "reference_reader",
        "report",
    }
    | {"runner", "study"},
    "given_scores": {"manifest", "responses", "study", "tables"},
    "interop": {"interop", "study", "study_reader", "folder_reader", "rating", "asked"}
    | {"given_scores", "manifest", "runner"},
}
HEAVY = {"torch", "transformers", "polars", "scipy", "numpy", "wordfreq", "tokenizers", "rapidfuzz"}
HEAVY |= {"starlette", "uvicorn", "krippendorff"}


def part_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_point_one_way(path):
    part = part_of(path)
    if part not in MAY_IMPORT:
        assert part in {"__init__", "__main__", "cli", "errors", "types", "cache", "diagnosis"}, (
            f"{part}: say in MAY_IMPORT what it may import"
        )
        return
    ours = {m.split(".")[1] for m in imports_of(path) if m.startswith("felicity.")}
    assert ours <= MAY_IMPORT[part] | EVERYWHERE


@pytest.mark.parametrize("path", sorted((SOURCE / "stats").glob("*.py")), ids=lambda p: p.name)
def test_stats_import_numpy_and_scipy_only(path):
    outside = {m.split(".")[0] for m in imports_of(path)} - set(sys.stdlib_module_names)
    assert outside <= {"numpy", "scipy", "felicity"}


@pytest.mark.parametrize("words", [["-c", "import felicity"], ["-m", "felicity", "--help"]])
def test_start_up_loads_nothing_heavy(words):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "felicity" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_a_file_is_one_idea(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
