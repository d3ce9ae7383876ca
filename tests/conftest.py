from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test is about time.
settings.register_profile("felicity", deadline=None)
settings.load_profile("felicity")

# Scripts that are run by hand, one of them in an environment of its own.
collect_ignore_glob = ["reference/make_*.py", "fixtures/*.py"]

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def embedded_folder(name: str) -> Path:
    """The folder of an embedded model, which `make models` fetches; a test never does."""
    from felicity.participants.embedded import embedded_model, fetch_embedded, is_fetched

    model = embedded_model(name)
    assert is_fetched(model), f"embedded:{name} is not in the cache; run `make models` first"
    return fetch_embedded(model)


@pytest.fixture(scope="session")
def smollm2():
    """The embedded causal model as a participant."""
    from felicity import open_participant

    embedded_folder("smollm2-135m")
    return open_participant("embedded:smollm2-135m")


@pytest.fixture(scope="session")
def gricean():
    from felicity import load_study

    return load_study("gricean-maxims")


@pytest.fixture(scope="session")
def tiny_gpt2_folder(tmp_path_factory) -> Path:
    """A tiny GPT-2 saved as its users save theirs."""
    import tiny

    folder = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    tokenizer = tiny.tokenizer("bytelevel")
    tiny.gpt2(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_roberta_folder(tmp_path_factory) -> Path:
    import tiny

    folder = tmp_path_factory.mktemp("models") / "tiny-roberta"
    tokenizer = tiny.tokenizer("roberta")
    tiny.roberta(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
