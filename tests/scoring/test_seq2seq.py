"""Encoder-decoders: what goes to which side, what is scored, and how often a question is read."""

from __future__ import annotations

import json
import math
import shutil

import pytest
import torch

from felicity import open_participant, read_run, run
from felicity.errors import FaultsError, ModelError, OptionError
from felicity.participants import participant_from_model
from felicity.scoring.counts import count_tokens
from felicity.types import TextPair

import tiny

QUESTION = "Leslie: Where is the dog?\nJoan:"
PAIRS = [
    TextPair(context=QUESTION, answer=" It is in the garden."),
    TextPair(context="Who?", answer=" My aunt."),
    TextPair(context=QUESTION, answer=" In a cup."),
    TextPair(context="Who?", answer=" Me, and the dog of my aunt."),
]
MODELS = {"t5": (tiny.t5, "unigram"), "bart": (tiny.bart, "roberta")}


def opened(name, **options):
    build, kind = MODELS[name]
    tokenizer = tiny.tokenizer(kind)
    model = build(len(tokenizer))
    return participant_from_model(model, tokenizer, spec=name, method="seq2seq", **options)


def scores(participant, pairs=PAIRS):
    plan = participant.plan(pairs)
    found = {}
    for batch in plan.batches:
        found.update(zip(batch, participant.score(plan, batch), strict=True))
    return [found[i] for i in range(len(pairs))]


@pytest.fixture(scope="module")
def t5_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny-t5"
    tokenizer = tiny.tokenizer("unigram")
    tiny.t5(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_model_under_its_own_labels(name):
    """transformers' training path makes the decoder's input itself, from labels."""
    participant = opened(name)
    for pair, got in zip(PAIRS, scores(participant), strict=True):
        source = participant.tokenizer(pair.context, return_tensors="pt")["input_ids"]
        read = participant.tokenizer(
            text_target=pair.answer.strip(), return_tensors="pt", return_special_tokens_mask=True
        )
        labels = read["input_ids"]
        with torch.no_grad():
            logits = participant.model(input_ids=source, labels=labels).logits[0]
        chosen = logits.double().log_softmax(-1).gather(1, labels[0][:, None])[:, 0]
        real = read["special_tokens_mask"][0] == 0
        assert got.log_probs == pytest.approx(chosen[real].tolist(), abs=1e-5)
        assert got.token_ids == tuple(labels[0][real].tolist())
        assert "".join(got.tokens) == pair.answer.strip()


def test_special_tokens_are_read_where_they_stand_before_and_never_scored():
    one = opened("bart").plan(PAIRS).encoded[0]
    tokenizer = tiny.tokenizer("roberta")
    assert one.ids[:2] == (tokenizer.eos_token_id, tokenizer.bos_token_id)
    assert one.start == 2
    assert one.stop == len(one.ids)
    assert one.source[0] == tokenizer.bos_token_id
    assert one.source[-1] == tokenizer.eos_token_id
    assert opened("bart").info.prefix == "decoder start </s> (2)"
    other = opened("t5").plan(PAIRS).encoded[0]
    assert other.ids[0] == 0
    assert other.start == 1
    assert 1 not in other.ids
    assert other.source[-1] == 1


def test_the_space_at_the_join_belongs_to_neither_text():
    participant = opened("bart")
    pairs = [
        TextPair(context="Who is it?", answer=" It is me."),
        TextPair(context="Who is it? ", answer="It is me."),
        TextPair(context="Who is it?\n", answer="\n It is me."),
    ]
    first, *others = participant.plan(pairs).encoded
    assert all(other == first for other in others)


@pytest.mark.parametrize("name", MODELS)
def test_each_question_is_encoded_once(name):
    participant = opened(name)
    assert participant.shares
    rows = []
    participant.model.get_encoder().register_forward_pre_hook(
        lambda _module, _args, given: rows.append(given["input_ids"].shape[0]), with_kwargs=True
    )
    (batch,) = participant.plan(PAIRS * 2).batches
    scores(participant, PAIRS * 2)
    assert len(batch) == 8
    assert rows == [2]


def test_a_token_plan_counts_both_sides_and_each_question_once():
    participant = opened("t5")
    plan = participant.plan(PAIRS)
    told = count_tokens(plan.encoded, plan.batches, way=plan.way, method="seq2seq")
    sources = [len(one.source) for one in plan.encoded]
    answers = [len(one.ids) - 1 for one in plan.encoded]
    once = [*sources[:2], *answers]
    assert (told.texts, told.batches) == (4, 1)
    assert told.plain == sum(sources) + sum(answers)
    assert told.computed == sum(once)
    # All of one shape: what is computed and what is padding fill two rectangles.
    assert told.computed + told.padding == 2 * max(sources) + 4 * max(answers)
    assert told.heads == sum(one.stop - one.start for one in plan.encoded)


def test_answers_to_a_question_stay_together_and_no_batch_is_too_large():
    participant = opened("t5", batch_tokens=70)
    pairs = [
        TextPair(context=f"Where is the {what}?", answer=answer)
        for answer in (" In the garden.", " It is there.")
        for what in ("dog", "cat", "cup", "house", "boy who was ill")
    ]
    plan = participant.plan(pairs)
    assert sorted(i for batch in plan.batches for i in batch) == list(range(10))
    home = {i: number for number, batch in enumerate(plan.batches) for i in batch}
    assert all(home[i] == home[i + 5] for i in range(5))
    for batch in plan.batches:
        width = max(len(plan.encoded[i].source) for i in batch)
        width += max(len(plan.encoded[i].ids) for i in batch)
        assert len(batch) * width <= 70
    assert len(plan.batches) > 1


def test_a_class_that_cannot_share_is_scored_by_plain_calls():
    tokenizer = tiny.tokenizer("unigram")
    model = tiny.t5(len(tokenizer))
    expected = scores(participant_from_model(model, tokenizer, spec="x", method="seq2seq"))
    model.get_encoder = lambda: None
    plain = participant_from_model(model, tokenizer, spec="x", method="seq2seq")
    assert not plain.shares
    for one, other in zip(scores(plain), expected, strict=True):
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-5)


def test_a_uniform_model_gives_minus_ln_v_per_token():
    tokenizer = tiny.tokenizer("unigram")
    model = tiny.t5(len(tokenizer))
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    participant = participant_from_model(model, tokenizer, spec="x", method="seq2seq")
    for got in scores(participant):
        assert got.log_probs == pytest.approx([-math.log(len(tokenizer))] * len(got.log_probs))


def test_a_decoder_that_looks_ahead_is_refused():
    tokenizer = tiny.tokenizer("unigram")
    model = tiny.t5(len(tokenizer))
    shift = model.lm_head.forward
    # Every place also sees what stands at the next.
    model.lm_head.forward = lambda states: shift(states + 0.1 * states.roll(-1, dims=1))
    with pytest.raises(ModelError, match="earlier tokens of the decoder see later ones"):
        participant_from_model(model, tokenizer, spec="x", method="seq2seq")


def test_a_token_can_be_put_after_the_decoders_start():
    """T5 before any fine-tuning fills gaps: its answers begin with a mark."""
    tokenizer = tiny.tokenizer("unigram")
    mark = tokenizer.convert_tokens_to_ids("<extra_id_0>")
    participant = opened("t5", prefix=str(mark))
    assert participant.info.prefix == f"decoder start <pad> <extra_id_0> (0, {mark})"
    one = participant.plan(PAIRS).encoded[0]
    assert one.ids[:2] == (0, mark)
    assert one.start == 2
    assert scores(participant)[0].log_probs != scores(opened("t5"))[0].log_probs


@pytest.mark.parametrize("policy", ["bos", "none", "-1"])
def test_other_prefixes_are_refused(policy):
    with pytest.raises(OptionError, match="expected auto or a token id"):
        opened("t5", prefix=policy)


def test_a_model_that_does_not_say_how_its_decoder_begins_is_refused():
    tokenizer = tiny.tokenizer("unigram")
    model = tiny.t5(len(tokenizer))
    model.config.decoder_start_token_id = None
    model.generation_config.decoder_start_token_id = None
    with pytest.raises(ModelError, match="does not say what its decoder begins with"):
        participant_from_model(model, tokenizer, spec="x", method="seq2seq")
    model.generation_config.decoder_start_token_id = 0
    named = participant_from_model(model, tokenizer, spec="x", method="seq2seq")
    assert named.info.prefix == "decoder start <pad> (0)"


def test_answers_are_split_as_targets_where_a_tokenizer_tells_them_from_sources():
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    class Translating(PreTrainedTokenizerFast):
        """Appends another mark to sources than it puts before targets, as translators do."""

        def _switch_to_input_mode(self):
            self._tokenizer.post_processor = processors.TemplateProcessing(
                single="$A </s>", special_tokens=[("</s>", 1)]
            )

        def _switch_to_target_mode(self):
            self._tokenizer.post_processor = processors.TemplateProcessing(
                single="<extra_id_0> $A </s>", special_tokens=[("<extra_id_0>", 3), ("</s>", 1)]
            )

    plain = tiny.tokenizer("unigram")
    tokenizer = Translating(tokenizer_object=plain.backend_tokenizer, **tiny.SPECIALS["unigram"])
    participant = participant_from_model(
        tiny.t5(len(tokenizer)), tokenizer, spec="x", method="seq2seq"
    )
    one = participant.plan(PAIRS).encoded[0]
    assert one.ids[:2] == (0, 3)
    assert one.start == 2
    assert 3 not in one.source
    assert "".join(one.tokens) == "It is in the garden."


def test_all_faults_are_told_at_once_and_name_the_item():
    participant = opened("bart")
    pairs = [
        TextPair(context="Who?", answer="  "),
        TextPair(context="Who? " * 70, answer=" me"),
        TextPair(context="Who?", answer=" me"),
    ]
    with pytest.raises(FaultsError) as caught:
        participant.plan(pairs, ["empty", "long", "good"])
    text = str(caught.value)
    assert 'empty, answer: got "no token of its own"; expected an answer of at least one' in text
    assert "tokens\"; expected at most 128 on each side, the model's limit" in text
    assert [fault.file for fault in caught.value.faults] == ["empty", "long"]
    bare = tiny.tokenizer("unigram")
    bare.backend_tokenizer.post_processor = None
    unmarked = participant_from_model(tiny.t5(len(bare)), bare, spec="x", method="seq2seq")
    with pytest.raises(FaultsError, match='context: got "no token"; expected a text'):
        unmarked.plan([TextPair(context=" ", answer=" me")])


def test_the_method_follows_the_architecture(tmp_path, t5_folder):
    assert open_participant(f"hf:{t5_folder}").info.method == "seq2seq"
    folder = tmp_path / "copy"
    shutil.copytree(t5_folder, folder)
    for name in ("T5WithLMHeadModel", "T5ForSequenceClassification"):
        config = json.loads((folder / "config.json").read_text()) | {"architectures": [name]}
        (folder / "config.json").write_text(json.dumps(config))
        if name == "T5WithLMHeadModel":  # what old checkpoints call it; no causal model
            assert open_participant(f"hf:{folder}").info.method == "seq2seq"
        else:
            with pytest.raises(ModelError, match=name):
                open_participant(f"hf:{folder}")


def test_a_causal_model_asked_as_an_encoder_decoder_is_refused(tiny_gpt2_folder):
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_participant(f"hf:{tiny_gpt2_folder}", method="seq2seq")


def test_a_run_goes_from_items_to_the_report(t5_folder, gricean, tmp_path):
    from felicity import analyse
    from felicity.report.choice.words import in_words

    participant = open_participant(f"hf:{t5_folder}")
    done = run(gricean, participant, tmp_path / "run", where={"maxim": "relation"}, limit=20)
    table = done.responses
    assert done.complete
    assert table.height == 40
    assert table["status"].unique().to_list() == ["ok"]
    assert table["pmi"].null_count() == 0
    row = table.row(0, named=True)
    assert "".join(row["tokens"]) == row["answer"]
    told = json.loads((tmp_path / "run" / "run.json").read_text())["participant"]
    assert (told["method"], told["prefix"]) == ("seq2seq", "decoder start <pad> (0)")
    again = run(gricean, participant, tmp_path / "run", where={"maxim": "relation"}, limit=20)
    assert again.responses.equals(table)
    analysis = analyse([read_run(tmp_path / "run")], gricean)
    assert "(seq2seq, format names)" in in_words(analysis)[0]
