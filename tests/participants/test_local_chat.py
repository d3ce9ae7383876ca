"""Local chat and base models: prompts as the template writes them, replies that repeat."""

from __future__ import annotations

import asyncio
import json

import pytest
import torch

from felicity.errors import ModelError, OptionError
from felicity.participants.chat_text import end_ids, open_chat_text
from felicity.participants.local_answer import CUE, choose_draw
from felicity.participants.local_chat import local_chat_from_model, open_local_chat
from felicity.rating.parsing import Parser
from felicity.rating.run import run_ratings
from felicity.scoring.distribution import (
    DISTRIBUTION_PARSER_VERSION,
    parse_distribution,
    read_distribution,
)
from felicity.types import Conversation, Message, Sampling, Scale, Turn

import tiny
from conftest import embedded_folder

SEVEN = Scale(low=1, high=7)
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WITH_BOS = "{{ bos_token }}" + CHATML
REFUSES_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    + WITH_BOS
)
IGNORES_SYSTEM = (
    "{% for m in messages %}{% if m.role != 'system' %}[{{ m.role }}] {{ m.content }}</s>"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)
THINKS = (
    "{% for m in messages %}{{ m.role }}: {% if m.role == 'assistant' %}<think>\n\n</think>\n\n"
    "{% endif %}{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
OPENS_THINKING = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: <think>\n{% endif %}"
)
DATED = "{{ date_string if date_string is defined else strftime_now('%d') }}" + CHATML


def user(text: str) -> Message:
    return Message(role="user", content=text)


SYSTEM = Message(role="system", content="Be brief.")


def with_template(template: str | None, kind: str = "metaspace"):
    tokenizer = tiny.tokenizer(kind)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = template
    return tokenizer


def chat_model(template: str | None = WITH_BOS, *, n_positions: int = 128, **options):
    tokenizer = with_template(template, "bytelevel")
    model = tiny.gpt2(len(tokenizer), n_positions=n_positions)
    return local_chat_from_model(model, tokenizer, spec="tiny", **options)


def ask(participant, *messages, **sampling):
    return asyncio.run(participant.ask(messages, Sampling(**sampling)))


def test_a_template_is_applied_once_and_its_bos_stands_once():
    tokenizer = with_template(WITH_BOS)
    assert tokenizer("x")["input_ids"][0] == tokenizer.bos_token_id, "it adds one by itself too"
    chat = open_chat_text(tokenizer, "tiny")
    said = [SYSTEM, user("Why?"), Message(role="assistant", content="So."), user("How?")]
    ids = chat.encode(said)
    assert ids.count(tokenizer.bos_token_id) == 1
    assert ids[0] == tokenizer.bos_token_id
    as_dicts = [{"role": m.role, "content": m.content} for m in said]
    expected = tokenizer.apply_chat_template(as_dicts, add_generation_prompt=True, tokenize=True)
    assert list(ids) == list(expected["input_ids"])
    assert chat.write(said).endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize("template", [REFUSES_SYSTEM, IGNORES_SYSTEM], ids=["refuses", "ignores"])
def test_a_template_without_a_system_role_gets_it_before_the_first_user_turn(template):
    chat = open_chat_text(with_template(template), "tiny")
    assert not chat.takes_system
    text = chat.write([SYSTEM, user("Why?"), Message(role="assistant", content="A"), user("B")])
    assert text.count("Be brief.\n\nWhy?") == 1
    assert open_chat_text(with_template(WITH_BOS), "tiny").takes_system


def test_a_base_model_reads_plain_turns_after_its_prefix():
    tokenizer = tiny.tokenizer("metaspace")
    chat = open_chat_text(tokenizer, "tiny")
    said = [SYSTEM, user("Why?"), Message(role="assistant", content="So."), user("How?")]
    assert chat.write(said) == (
        "System: Be brief.\n\nUser: Why?\n\nAssistant: So.\n\nUser: How?\n\nAssistant:"
    )
    ids = chat.encode(said, chat.lead + CUE)
    assert ids.count(tokenizer.bos_token_id) == 1
    assert tokenizer.decode(ids).endswith("Assistant: Rating:")
    assert chat.cut("It is 5.\n\nUser: And?") == "It is 5."


@pytest.mark.parametrize(
    ("template", "lead"),
    [(WITH_BOS, ""), (THINKS, "<think>\n\n</think>\n\n"), (OPENS_THINKING, "\n</think>\n\n")],
    ids=["none", "closed", "open"],
)
def test_the_cue_stands_after_a_reasoning_that_is_closed(template, lead):
    assert open_chat_text(with_template(template), "tiny").lead == lead


def test_a_template_that_writes_the_date_writes_the_same_every_day():
    text = open_chat_text(with_template(DATED), "tiny").write([user("Why?")])
    assert text.startswith("26 Jul 2024<|im_start|>")


def test_templates_and_forms_are_part_of_the_identity():
    chats = [open_chat_text(with_template(t), "tiny") for t in (WITH_BOS, CHATML, THINKS, None)]
    assert len({json.dumps(chat.identity) for chat in chats}) == 4


def test_replies_end_at_the_template_s_mark_and_at_those_of_the_generation_config():
    from transformers import GenerationConfig

    tokenizer = with_template(WITH_BOS)
    assert tokenizer.eos_token_id == 2
    mark = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert end_ids(tokenizer, GenerationConfig(eos_token_id=[5, 6])) == {5, 6, mark, 2}
    assert end_ids(tokenizer, GenerationConfig(eos_token_id=7)) == {7, mark, 2}
    plain = tiny.tokenizer("bytelevel")
    assert end_ids(plain, None) == {plain.eos_token_id}


def test_a_broken_template_is_named():
    with pytest.raises(ModelError, match=r"tiny: its chat template cannot write .*: no"):
        open_chat_text(with_template("{{ raise_exception('no') }}"), "tiny")


def test_same_seed_same_reply_whatever_was_asked_before():
    participant = chat_model()
    first = ask(participant, user("Why?"), seed=3, max_tokens=20)
    for other in ("Who?", "Why not?", "Why?"):
        ask(participant, user(other), seed=9, max_tokens=7)
    again = ask(participant, user("Why?"), seed=3, max_tokens=20)
    fresh = ask(chat_model(), user("Why?"), seed=3, max_tokens=20)
    assert first.text == again.text == fresh.text
    assert first.tokens_out == again.tokens_out
    seeds = {ask(participant, user("Why?"), seed=s, max_tokens=20).text for s in range(5)}
    assert len(seeds) == 5


def test_repeats_of_one_prompt_read_it_once(monkeypatch):
    participant = chat_model()
    read = []
    run = type(participant.reader)._run

    def watch(self, whole, keep, paths):
        read.append(len(whole) - keep)
        return run(self, whole, keep, paths)

    monkeypatch.setattr(type(participant.reader), "_run", watch)
    for seed in range(10):
        reply = ask(participant, user("Why is it so?"), seed=seed, max_tokens=4)
    assert [size for size in read if size > 1] == [reply.tokens_in]


def test_effective_sampling_is_what_was_really_used():
    participant = chat_model()
    greedy = ask(participant, user("Why?"), temperature=None, top_p=0.5, seed=3, max_tokens=5)
    assert greedy.effective == Sampling(temperature=0.0, max_tokens=5)
    assert greedy.text == ask(participant, user("Why?"), temperature=0, max_tokens=5).text
    fresh = ask(participant, user("Why?"), top_p=0.9, max_tokens=5)
    assert fresh.effective.seed is not None
    again = asyncio.run(participant.ask([user("Why?")], fresh.effective))
    assert (again.text, again.effective) == (fresh.text, fresh.effective)
    assert (fresh.finish, fresh.tokens_out, fresh.model_id) == ("length", 5, None)


def test_max_tokens_never_pass_the_model_s_limit_and_a_longer_prompt_is_refused():
    participant = chat_model(n_positions=64)
    reply = ask(participant, user("Why?"), seed=1)
    assert reply.effective.max_tokens == 64 - reply.tokens_in + 1
    long = user("why " * 80)
    for method in ("sampled", "expected"):
        other = chat_model(n_positions=64, method=method, scale=SEVEN)
        with pytest.raises(ModelError, match=r"a prompt has \d+ tokens.* the model's limit is 64"):
            ask(other, long, max_tokens=5)


@pytest.mark.parametrize(
    ("sampling", "where"),
    [
        (Sampling(temperature=-1), "temperature: got -1.0; expected 0 or more"),
        (Sampling(temperature=float("nan")), "temperature: got nan"),
        (Sampling(top_p=0.0), "top_p: got 0.0; expected above 0, at most 1"),
        (Sampling(max_tokens=0), "max_tokens: got 0; expected 1 or more"),
    ],
)
def test_sampling_that_is_not_allowed_is_named(sampling, where):
    with pytest.raises(OptionError, match=where):
        choose_draw(sampling, None)


def test_what_cannot_be_asked_is_refused_at_once(tiny_roberta_folder, tiny_gpt2_folder):
    with pytest.raises(ModelError, match="got a masked model; expected a causal model for sampled"):
        open_local_chat(f"hf:{tiny_roberta_folder}")
    with pytest.raises(OptionError, match="expected one of sampled, expected"):
        open_local_chat(f"hf:{tiny_gpt2_folder}", method="logprob")
    with pytest.raises(OptionError, match="expected needs a scale"):
        open_local_chat(f"hf:{tiny_gpt2_folder}", method="expected")


def test_a_base_model_from_a_folder_says_how_it_is_asked(tiny_gpt2_folder):
    participant = open_local_chat(f"hf:{tiny_gpt2_folder}", method="expected", scale=SEVEN)
    info = participant.info
    assert info.identity["cue"] == " Rating:"
    assert info.identity["scale"] == "1 to 7"
    assert info.identity["chat_form"] == "plain: System: …\n\nUser: …\n\nAssistant: …"
    assert any("no chat template" in note for note in info.notes)
    assert any("before any reasoning" in note for note in info.notes)
    assert participant.max_connections == 1


def test_the_order_of_questions_changes_no_distribution():
    questions = [user(text) for text in ("Why is it so?", "Why is it not?", "Who?")]
    participant = chat_model(WITH_BOS, method="expected", scale=SEVEN)
    there = [read_distribution(ask(participant, q).text) for q in questions]
    back = [read_distribution(ask(participant, q).text) for q in reversed(questions)]
    alone = [
        read_distribution(ask(chat_model(WITH_BOS, method="expected", scale=SEVEN), q).text)
        for q in questions
    ]
    for one, two, three in zip(there, reversed(back), alone, strict=True):
        assert one.probabilities == pytest.approx(two.probabilities, abs=1e-6)
        assert one.probabilities == pytest.approx(three.probabilities, abs=1e-6)


def test_a_distribution_is_no_reply_that_a_later_question_follows():
    participant = chat_model(method="expected", scale=SEVEN)
    said = [user("How good?"), Message(role="assistant", content="{}"), user("How bad?")]
    with pytest.raises(OptionError, match="ask each question by itself"):
        ask(participant, *said)


def question(name: str, repeat: int = 0) -> Conversation:
    trial = f"{name}|MIN|{repeat}"
    return Conversation(
        conversation_id=trial,
        prompting="MIN",
        repeat=repeat,
        system="Be brief.",
        turns=(Turn(trial_id=trial, item_id=name, text=f"How {name} is it?"),),
        scale=SEVEN,
    )


def test_a_run_of_each_method(tmp_path):
    manifest = {"study": "desk", "data_hash": "d1"}
    parser = Parser(parse=parse_distribution, version=DISTRIBUTION_PARSER_VERSION)
    run = run_ratings(
        [question("good"), question("bad")],
        chat_model(WITH_BOS, method="expected", scale=SEVEN),
        tmp_path / "expected",
        sampling=Sampling(temperature=None),
        manifest=manifest,
        parser=parser,
        smoke=0,
    )
    assert run.complete
    row = run.responses.row(0, named=True)
    distribution = read_distribution(row["text"])
    assert set(json.loads(row["text"])) == {"probabilities", "outside"}
    assert row["value"] == (distribution.mean if distribution.outside <= 0.99 else None)
    assert run.manifest["sampling_notes"] == []
    run = run_ratings(
        [question("good", repeat) for repeat in range(3)],
        chat_model(),
        tmp_path / "sampled",
        sampling=Sampling(seed=7, max_tokens=9),
        manifest=manifest,
        parser=parser,
        smoke=0,
    )
    assert run.responses["seed_effective"].n_unique() == 3
    assert run.responses["text"].n_unique() == 3


def test_the_embedded_model_replies_greedily_as_transformers_does():
    embedded_folder("smollm2-135m")
    participant = open_local_chat("embedded:smollm2-135m")
    assert participant.reader.way == "tree"
    reply = ask(participant, user("Name the capital of France."), temperature=0, max_tokens=12)
    ids = torch.tensor([participant.chat.encode([user("Name the capital of France.")])])
    made = participant.model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=12
    )[0, ids.shape[1] :]
    assert reply.text == participant.chat.tokenizer.decode(made, skip_special_tokens=True)
    assert "Paris" in reply.text
    assert reply.finish == "stop"
