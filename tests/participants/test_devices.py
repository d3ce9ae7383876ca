"""Devices, and models spread over several of them."""

from __future__ import annotations

import pytest
import torch

from felicity import open_participant, run
from felicity.errors import OptionError
from felicity.participants.fingerprint import weights_fingerprint
from felicity.participants.load import choose_device
from felicity.scoring.devices import input_device
from felicity.types import TextPair

import tiny
from study_folders import write_study

PAIRS = [
    TextPair(context="Who is it?", answer=" It is me."),
    TextPair(context="Who is it?", answer=" My aunt, who was ill."),
]
BUILDERS = {
    "logprob": (tiny.gpt2, "bytelevel"),
    "pll_within_word_l2r": (tiny.bert, "wordpiece"),
    "seq2seq": (tiny.t5, "unigram"),
}


@pytest.fixture(scope="module", params=BUILDERS)
def folder(request, tmp_path_factory):
    build, kind = BUILDERS[request.param]
    tokenizer = tiny.tokenizer(kind)
    place = tmp_path_factory.mktemp("models") / request.param
    build(len(tokenizer)).save_pretrained(place, max_shard_size="60KB")
    tokenizer.save_pretrained(place)
    return place


def most_of(model):
    """Memory for all but the last layers, which go to disk."""
    return {"cpu": int(0.9 * sum(weight.numel() * 4 for weight in model.parameters()))}


def scores(participant):
    plan = participant.plan(PAIRS)
    found = {}
    for batch in plan.batches:
        found.update(zip(batch, participant.score(plan, batch), strict=True))
    return [value for i in range(len(PAIRS)) for value in found[i].log_probs]


def test_a_model_spread_over_memory_and_disk_is_the_same_model_with_the_same_scores(folder):
    whole = open_participant(f"hf:{folder}", device="cpu")
    spread = open_participant(
        f"hf:{folder}", device_map="sequential", max_memory=most_of(whole.model)
    )
    placed = set(spread.model.hf_device_map.values())
    assert placed == {"cpu", "disk"}, "it was not spread at all"
    assert any(weight.device.type == "meta" for weight in spread.model.parameters())
    assert spread.info.device == "cpu"
    assert spread.info.weights_fingerprint == whole.info.weights_fingerprint
    assert spread.info.tokenizer_fingerprint == whole.info.tokenizer_fingerprint
    assert scores(spread) == pytest.approx(scores(whole), abs=1e-5)


def test_a_run_begun_on_one_device_goes_on_with_a_model_that_is_spread(tmp_path, tiny_gpt2_folder):
    from felicity import load_study

    study = load_study(write_study(tmp_path / "study"))
    whole = open_participant(f"hf:{tiny_gpt2_folder}", device="cpu")
    first = run(study, whole, tmp_path / "run", limit=2)
    assert first.manifest["sessions"][0]["batch_tokens"] == 1024
    spread = open_participant(f"hf:{tiny_gpt2_folder}", device_map="auto", batch_tokens=64)
    done = run(study, spread, tmp_path / "run")
    assert done.complete
    assert done.manifest["sessions"][1]["batch_tokens"] == 64


def test_a_fingerprint_sees_a_weight_that_rests_on_disk(tmp_path):
    tokenizer = tiny.tokenizer("bytelevel")
    found = []
    for change in (0.0, 1e-3):
        model = tiny.gpt2(len(tokenizer))
        with torch.no_grad():
            model.transformer.h[1].mlp.c_proj.weight[3, 3] += change
        place = tmp_path / str(change)
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
        spread = open_participant(f"hf:{place}", device_map="sequential", max_memory=most_of(model))
        assert spread.model.transformer.h[1].mlp.c_proj.weight.device.type == "meta"
        found.append(weights_fingerprint(spread.model))
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device_map": "all"}, "expected one of auto, balanced, balanced_low_0, sequential"),
        ({"device_map": "auto", "device": "cpu"}, "expected auto beside --device-map auto"),
    ],
)
def test_a_wrong_map_is_refused(tiny_gpt2_folder, options, message):
    with pytest.raises(OptionError, match=message):
        open_participant(f"hf:{tiny_gpt2_folder}", **options)


def test_auto_takes_what_is_there_and_a_device_that_is_not_is_named():
    there = "cuda" if torch.cuda.is_available() else "cpu"
    if torch.backends.mps.is_available():
        there = "mps"
    assert choose_device("auto") == there
    assert choose_device("cpu") == "cpu"
    for device in ("cuda:99", "tpu", "cpu cpu"):
        with pytest.raises(OptionError, match="use auto, cpu, cuda, cuda:N or mps"):
            choose_device(device)


def test_inputs_go_where_the_first_layer_computes():
    model = torch.nn.Linear(2, 2)
    assert input_device(model) == torch.device("cpu")
    model.hf_device_map = {"a": "cuda:1", "b": "cuda:0", "c": "cpu", "d": "disk"}
    assert input_device(model) == torch.device("cuda", 1)
    model.hf_device_map = {"a": "cpu", "b": "disk"}
    assert input_device(model) == torch.device("cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_scores_on_a_gpu_are_those_on_the_processor(folder):
    whole = open_participant(f"hf:{folder}", device="cpu")
    fast = open_participant(f"hf:{folder}", device="cuda")
    assert fast.info.device == "cuda:0"
    assert fast.info.weights_fingerprint == whole.info.weights_fingerprint
    assert fast.batch_tokens == 65536, "a tiny model fills no GPU"
    assert scores(fast) == pytest.approx(scores(whole), abs=1e-4)
