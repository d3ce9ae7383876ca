"""The blocks of code of a page: what they are, and how each is run or checked.

A block that has a title is a file of that name, but for these: a console block is run unless its
title says why not (`WHY_NOT`), and a text block called "Output" is what the console block before it
prints.
"""

from __future__ import annotations

import glob
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from felicity.cli import app, main

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r'^```(?P<language>[a-z]+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```', re.M | re.S
)
# Titles of console blocks that are only checked against the command line, never run.
WHY_NOT = ("Install", "Needs a key", "Needs the network", "Needs files of yours", "Minutes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    title: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    return [
        Block(language=m["language"], title=m["title"] or "", text=m["text"])
        for m in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def commands_of(block: Block) -> list[list[str]]:
    """The words of each command; where some lines begin with `$`, the others are output."""
    lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    # As a shell has it: what follows a space and # is a comment, # within a word is not.
    words = [shlex.split(re.sub(r"(^|\s)#.*", "", line)) for line in lines]
    return [each for each in words if each]


def check_command(words: list[str]) -> None:
    """Fail where a command cannot be what it says: no such option, target or extra."""
    if words[0] == "felicity":
        command = typer.main.get_command(app)
        parse(command, words[1:])
    elif words[:2] == ["pip", "install"]:
        told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        extras = told["project"]["optional-dependencies"]
        for extra in re.findall(r"\[([a-z,]+)\]", " ".join(words)):
            assert set(extra.split(",")) <= set(extras), words
    elif words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        assert set(words[1:]) <= set(targets), words
    elif words[0] == "sbatch":
        assert (ROOT / words[1]).is_file(), words
    else:
        assert words[0] in ("export", "cd", "mkdir", "git"), f"not known how to check: {words}"


def parse(command, words: list[str], parent=None) -> None:
    """Let the command line parse the words, and call nothing."""
    context = command.make_context(words[0] if parent else "felicity", list(words), parent=parent)
    inner = getattr(command, "commands", None)
    if inner is not None:
        name = words[0]
        assert name in inner, f"no command {name}"
        parse_leaf(inner[name], words, context)


def parse_leaf(command, words: list[str], parent) -> None:
    if getattr(command, "commands", None) is not None:
        assert words[1] in command.commands, f"no command {words[:2]}"
        parse_leaf(command.commands[words[1]], words[1:], parent)
        return
    command.make_context(words[0], list(words[1:]), parent=parent)


def run_command(words: list[str]) -> None:
    """Run a command of ours in this process, patterns of files being expanded as a shell does."""
    assert words[0] == "felicity", f"not known how to run: {words}"
    spread = [
        found
        for word in words[1:]
        for found in (sorted(glob.glob(word)) or [word])  # noqa: PTH207
    ]
    with pytest.raises(SystemExit) as stop:
        main(spread)
    assert not stop.value.code, words


def run_page(page: Path, capsys) -> None:
    """Do what a page says, block by block, in the folder that we are in."""
    names: dict[str, object] = {}
    printed = ""
    for block in blocks_of(page):
        if block.language == "console" and block.title not in WHY_NOT:
            capsys.readouterr()
            for words in commands_of(block):
                check_command(words)
                run_command(words)
            printed = squeezed(capsys.readouterr().out)
        elif block.language == "python":
            exec(compile(block.text, page.name, "exec"), names)
        elif block.title == "Output":
            for line in block.text.splitlines():
                assert squeezed(line) in printed, f"{page.name} promises {line!r}, not in {printed}"
        elif block.title and block.language != "console":
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")


def squeezed(text: str) -> str:
    return " ".join(text.split())
