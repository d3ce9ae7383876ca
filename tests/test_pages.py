"""Tutorials do what they say, word for word; every command of every page is one that exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from blocks import WHY_NOT, Block, blocks_of, check_command, commands_of, run_page
from conftest import embedded_folder
from fixtures.misbehaving_server import MisbehavingServer

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# The other pages' commands stand for files of the reader's; they are checked, and not run.
RUN = [ROOT / "docs" / "index.md", *sorted(ROOT.glob("docs/tutorials/*.md"))]
COMMANDS = [
    pytest.param(words, id=f"{page.name}: {' '.join(words)[:60]}")
    for page in PAGES
    for block in blocks_of(page)
    if block.language == "console"
    for words in commands_of(block)
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_a_page_can_be_parsed(words):
    check_command(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_console_block_is_overlooked(page):
    titles = {block.title for block in blocks_of(page) if block.language == "console"}
    assert titles - {""} <= set(WHY_NOT)
    fences = page.read_text(encoding="utf-8").count("```console")
    assert fences == sum(block.language == "console" for block in blocks_of(page))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_a_page_runs_word_for_word(page, tmp_path, monkeypatch, capsys):
    embedded_folder("smollm2-135m")
    monkeypatch.chdir(tmp_path)
    # A provider's place is taken by a server on this machine; all else is as a reader has it.
    with MisbehavingServer(reply="5") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        if page.name == "api-model.md":
            server.reply = "I would say 5. The answer is B."
        run_page(page, capsys)


@pytest.mark.parametrize(
    "line",
    [
        "felicity run gricean-maxims --modle x",
        "felicity walk",
        "felicity build grow x",
        "make tea",
        "pip install 'felicity[everything]'",
        "curl x",
    ],
)
def test_a_wrong_command_is_found(line):
    (words,) = commands_of(Block(language="console", title="", text=f"{line}  # why\n"))
    # The command line's own errors come from the copy of click within typer.
    with pytest.raises(Exception, match=r"(?i)no such option|no command|make|pip|not known how"):
        check_command(words)


def test_a_continued_line_is_one_command_and_output_is_none():
    text = "$ felicity run a \\\n  --model b\nprinted\n"
    block = Block(language="console", title="", text=text)
    assert commands_of(block) == [["felicity", "run", "a", "--model", "b"]]
