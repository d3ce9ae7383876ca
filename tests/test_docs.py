"""The code in README and docs runs, and what they point to is there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from felicity.study import load_study

from conftest import embedded_folder

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# Tutorials are done as a whole by tests/test_pages.py, the notebook by `make docs-check`.
ELSEWHERE = {*ROOT.glob("docs/tutorials/*.md"), ROOT / "docs" / "quickstart.md"}
WITH_PYTHON = [page for page in PAGES if page not in ELSEWHERE and "```python" in page.read_text()]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda p: p.name)
def test_python_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    embedded_folder("smollm2-135m")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks(page, "python"):
        exec(compile(code, page.name, "exec"), names)
    if page.name == "README.md":
        assert "log_prob_mean" in capsys.readouterr().out


def test_the_study_in_the_docs_is_valid(tmp_path):
    page = ROOT / "docs" / "studies.md"
    toml, names = blocks(page, "toml")[:2]
    row = json.loads(blocks(page, "json")[0])
    (tmp_path / "study.toml").write_text(toml, encoding="utf-8")
    rows = [row | {"story": f"{word}-0", "word": word} for word in ("all", "and")]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "reference.csv").write_text(
        "group,word,correct,asked,source\nAdults,all,9,10,x\nAdults,and,9,10,x\n", encoding="utf-8"
    )
    (tmp_path / "README.md").write_text("A study.", encoding="utf-8")
    assert len(load_study(tmp_path).items) == 2
    assert tomllib.loads(names)["names"]["roles"] == ["questioner", "responder"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_within_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_command_in_the_readme_exists():
    from felicity.cli import app

    known = {command.callback.__name__ for command in app.registered_commands}
    used = re.findall(r"^felicity ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert used
    assert set(used) <= known


def test_json_keys_are_documented(capsys):
    """Every key that `felicity report --json` prints stands in docs/json.md."""
    from felicity.report.choice.analysis import Cell
    from felicity.report.choice.files import _plain_cell

    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    cell = Cell(accuracy=0.5, interval=None, correct=1, ties=0, usable=2, asked=2, units=1)
    for key in _plain_cell(cell):
        assert re.search(rf"\b{key}\b", text), key
