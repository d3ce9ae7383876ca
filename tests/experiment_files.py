"""Experiments on tiny models: folders, files, and the commands that run them."""

from __future__ import annotations

from pathlib import Path

import tiny
from study_folders import write_study


def save_model(folder: Path, kind: str, seed: int = 0) -> Path:
    """Save a tiny model of a kind, as its users save theirs."""
    makers = {
        "gpt2": ("bytelevel", tiny.gpt2),
        "llama": ("metaspace", tiny.llama),
        "roberta": ("roberta", tiny.roberta),
        "bert": ("wordpiece", tiny.bert),
    }
    name, make = makers[kind]
    tokenizer = tiny.tokenizer(name)
    make(len(tokenizer), seed).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_experiment(home: Path, body: str, *, studies: str = '"study"') -> Path:
    """Write an experiment on a tiny study beside it."""
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "study").exists():
        write_study(home / "study")
    file = home / "tiny.toml"
    head = f'[experiment]\nname = "tiny"\nstudies = [{studies}]\n\n'
    file.write_text(head + body, encoding="utf-8")
    return file
