"""A tiny GPT-2 with code of its own: it dawdles as one file says, and dies of an id in another.

The weights stay the same whatever it does, so that runs before and after belong together.
"""

from __future__ import annotations

from pathlib import Path

import tiny

CODE = """
import os
import time
from pathlib import Path

from transformers import GPT2LMHeadModel

HOME = Path({home!r})


def dawdle_or_die(module, inputs):
    try:
        time.sleep(float((HOME / "slow").read_text()))
    except FileNotFoundError:
        pass
    deadly = HOME / "deadly"
    if deadly.exists() and (inputs[0] == int(deadly.read_text())).any():
        os.kill(os.getpid(), 9)


class SlowGPT2LMHeadModel(GPT2LMHeadModel):
    def __init__(self, config):
        super().__init__(config)
        self.transformer.wte.register_forward_pre_hook(dawdle_or_die)
        self.post_init()
"""


def save_slow_model(home: Path) -> Path:
    """Save it in a folder of ``home``; the files that it heeds are ``home``/slow and deadly."""
    folder = home / f"slow-{home.name}"
    tokenizer = tiny.tokenizer("bytelevel")
    model = tiny.gpt2(len(tokenizer))
    model.config.auto_map = {"AutoModelForCausalLM": "modeling_slow.SlowGPT2LMHeadModel"}
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "modeling_slow.py").write_text(CODE.format(home=str(home)), encoding="utf-8")
    return folder
