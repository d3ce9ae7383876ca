"""Growing a set: malformed replies, retries, kills, several writers."""

from __future__ import annotations

import json

import pytest

from felicity.build import growing
from felicity.build.folder import read_build
from felicity.build.growing import grow
from felicity.build.requests import requests_of, schema_of
from felicity.build.status import build_status
from felicity.build.writers import AskedWriter, ReplayedWriter
from felicity.errors import FaultsError, RunError
from felicity.types import Sampling

from building import REPLIES, STEPS, Scripted, grown, start

SAMPLING = Sampling(temperature=0.5, max_tokens=100, seed=1)
TEMPLATE = {
    "situation": "a thing that was left",
    "question": "Where did you leave your {thing}?",
    "follower": "I left it {here}.",
    "violator": "I left it {there}.",
    "slots": [{"name": name, "type": "a phrase"} for name in ("thing", "here", "there")],
    "why": "too vague",
}


def dialogue(thing: str) -> dict[str, str]:
    return {
        "question": f"Where did you leave your {thing}?",
        "follower": "I left it by the door.",
        "violator": "I left it in some place.",
    }


def one_maxim(tmp_path, **new):
    """A set with one base dialogue."""
    base = tmp_path / "one.csv"
    base.write_text(
        'maxim,question,follower,violator\nquantity_1,"Where is it?","It is here.","It is near."\n'
    )
    from felicity.build.adding import NewSet, start_build

    return start_build(tmp_path / "set", NewSet(**new), base, "Ann")


def asked(model: Scripted, **more) -> AskedWriter:
    return AskedWriter(model, sampling=SAMPLING, **more)


def test_the_committed_replies_grow_a_whole_set(tmp_path):
    build = grown(tmp_path / "set")
    assert [len(x) for x in (build.bases, build.templates, build.originals, build.wordings)] == [
        5, 5, 25, 75
    ]  # fmt: skip
    statuses = build_status(build).writers["replay:replies"]
    assert statuses == {
        "ok": 35, "partial": 2, "no_json": 1, "placeholders": 2, "truncated": 1, "empty": 1,
        "fields": 1,
    }  # fmt: skip
    # Half an item was never taken, and nothing twice.
    texts = [tuple(line.texts.values()) for line in build.originals]
    assert len(set(texts)) == 25
    assert all(line.made for line in build.wordings)


def test_again_changes_nothing(tmp_path):
    build = grown(tmp_path / "set")
    writer = ReplayedWriter(REPLIES)
    again = grow(tmp_path / "set", STEPS, lambda _step: writer)
    assert [growth.asked for growth in again] == [0, 0, 0]
    assert read_build(tmp_path / "set") == build


def test_a_malformed_reply_is_asked_for_again_with_the_reason(tmp_path):
    one_maxim(tmp_path)
    model = Scripted("I would rather not.", TEMPLATE)
    growth = grow(tmp_path / "set", ["template"], lambda _: asked(model))[0]
    assert (growth.taken, growth.statuses, growth.missing) == (1, {"no_json": 1, "ok": 1}, {})
    first, second = model.asked
    assert second.startswith(first)
    assert second.endswith(
        "An earlier reply could not be used: there was no JSON object in it. "
        "Reply with the JSON alone."
    )


def test_what_is_still_missing_is_said_and_asked_no_more(tmp_path):
    one_maxim(tmp_path)
    model = Scripted(*["{}"] * 9)
    growth = grow(tmp_path / "set", ["template"], lambda _: asked(model), tries=2)[0]
    assert (growth.taken, growth.missing) == (0, {"quantity_1-01": "fields"})
    grow(tmp_path / "set", ["template"], lambda _: asked(model), tries=2)
    assert len(model.asked) == 2
    grow(tmp_path / "set", ["template"], lambda _: asked(model), tries=3)
    assert len(model.asked) == 3


def test_only_the_rest_is_asked_for_after_a_partial_reply(tmp_path):
    one_maxim(tmp_path, dialogues=4)
    good = [dialogue("bike"), dialogue("ball"), dialogue("boot")]
    broken = {"question": "Where?", "follower": "Here."}
    model = Scripted(
        TEMPLATE, {"dialogues": [good[0], broken, good[0]]}, {"dialogues": [good[1], good[2]]}
    )
    grown_ = grow(tmp_path / "set", ["template", "dialogues"], lambda _: asked(model))
    assert [growth.statuses for growth in grown_] == [{"ok": 1}, {"partial": 1, "ok": 1}]
    assert "How many: 3." in model.asked[1]
    assert "How many: 2." in model.asked[2]
    assert "Where did you leave your bike?" in model.asked[2]
    ids = [line.dialogue_id for line in read_build(tmp_path / "set").originals]
    assert ids == [f"quantity_1-01-{number}" for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("kill", ["before the lines are written", "after"])
def test_a_kill_between_reply_and_set_asks_nothing_twice(tmp_path, monkeypatch, kill):
    one_maxim(tmp_path, rewordings=2)
    model = Scripted({"rewordings": ["Do you know where it is?", "Where can it be?"]})
    real = growing.append_wordings

    def killed(path, lines):
        if kill == "after":
            real(path, lines)
        raise KeyboardInterrupt

    monkeypatch.setattr(growing, "append_wordings", killed)
    with pytest.raises(KeyboardInterrupt):
        grow(tmp_path / "set", ["rewordings"], lambda _: asked(model))
    monkeypatch.setattr(growing, "append_wordings", real)
    grow(tmp_path / "set", ["rewordings"], lambda _: asked(model))
    assert len(model.asked) == 1
    assert [line.question for line in read_build(tmp_path / "set").wordings] == [
        "Where is it?", "Do you know where it is?", "Where can it be?"
    ]  # fmt: skip


def test_a_failed_request_is_asked_again_by_the_next_command(tmp_path):
    one_maxim(tmp_path)
    growth = grow(tmp_path / "set", ["template"], lambda _: asked(Scripted()))[0]
    assert growth.missing == {"quantity_1-01": "no reply"}
    assert grow(tmp_path / "set", ["template"], lambda _: asked(Scripted(TEMPLATE)))[0].taken == 1
    build = read_build(tmp_path / "set")
    assert build_status(build).writers == {"api:fake/scripted": {"ok": 1, "error": 1}}


def test_a_reply_of_another_model_is_not_taken(tmp_path):
    one_maxim(tmp_path)
    model = Scripted(TEMPLATE)
    model.model_id = "another"
    growth = grow(tmp_path / "set", ["template"], lambda _: asked(model), tries=1)[0]
    assert (growth.taken, growth.statuses) == (0, {"model_mismatch": 1})


def test_another_sampling_is_another_question(tmp_path):
    one_maxim(tmp_path)
    first, second = Scripted("no"), Scripted(TEMPLATE)
    grow(tmp_path / "set", ["template"], lambda _: asked(first), tries=1)
    warmer = AskedWriter(second, sampling=Sampling(temperature=1.0, seed=2))
    assert grow(tmp_path / "set", ["template"], lambda _: warmer, tries=1)[0].taken == 1


def test_two_commands_at_once_do_not_write_over_each_other(tmp_path):
    from felicity.rating.journal import only_run

    one_maxim(tmp_path)
    with only_run(tmp_path / "set"), pytest.raises(RunError, match="cannot be locked"):
        grow(tmp_path / "set", ["template"], lambda _: asked(Scripted(TEMPLATE)))


def test_a_cost_limit_stops_a_step(tmp_path):
    from felicity.rating.cost import Prices

    one_maxim(tmp_path)
    writer = asked(Scripted(TEMPLATE), prices=Prices(tokens_in=1.0, tokens_out=1.0), max_cost=0.0)
    growth = grow(tmp_path / "set", ["template"], lambda _: writer)[0]
    assert (growth.taken, growth.stopped) == (0, "max_cost")


def test_prompts_hold_rule_template_base_and_a_child(tmp_path):
    build = start(tmp_path / "set")
    [request] = [r for r in requests_of(build, "template") if r.target == "quality-01"]
    for text in ("be truthful", "I put on two red clouds.", "plainly cannot be true", "{thing}"):
        assert text in request.prompt
    build = grown(tmp_path / "grown")
    assert not requests_of(build, "dialogues")
    lines = (build.folder / "dialogues.jsonl").read_text(encoding="utf-8").splitlines()
    keep = [line for line in lines if json.loads(line)["dialogue_id"] != "quality-01-4"]
    (build.folder / "dialogues.jsonl").write_text("\n".join(keep), encoding="utf-8")
    [request] = requests_of(read_build(build.folder), "dialogues")
    for text in (
        "{impossible}: noun phrase", "What did you {act}?", "a child of six", "How many: 1."
    ):  # fmt: skip
        assert text in request.prompt
    assert "I put on two red socks." in request.prompt


def test_german_prompts_are_german_throughout(tmp_path):
    from felicity.build.adding import NewSet, start_build

    base = tmp_path / "eins.csv"
    base.write_text(
        "maxim,question,follower,violator\n"
        'quality,"Was hast du gegessen?","Ein Brot.","Ein Haus."\n'
    )
    build = start_build(tmp_path / "satz", NewSet(language="de"), base, "Anna")
    assert build.plan.names == ("Anna", "Lukas", "Katrin")
    [request] = requests_of(build, "template")
    assert "Die Regel, um die es geht: sage die Wahrheit." in request.prompt
    [again] = requests_of(build, "template", {"quality-01": "empty"})
    assert again.prompt.endswith(
        "Eine frühere Antwort war nicht zu gebrauchen: sie war leer. Antworte nur mit dem JSON."
    )


def test_schemas_are_closed_and_name_what_is_read():
    for step, fields in {
        "template": {"situation", "question", "follower", "violator", "slots", "why"},
        "dialogues": {"dialogues"},
        "rewordings": {"rewordings"},
    }.items():
        schema = schema_of(step)
        assert set(schema["required"]) == set(schema["properties"]) == fields
        assert schema["additionalProperties"] is False
        assert "maxItems" not in json.dumps(schema)
        assert "maxItems" in json.dumps(schema_of(step, 2))


def test_all_faults_of_a_file_of_replies_at_once(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text(
        '{"step": "translate", "target": "a", "reply": "b"}\n[]\n'
        '{"step": "template", "target": 3}\n'
        '{"step": "template", "target": "a", "reply": "b", "finish": "error"}\n{'
    )
    with pytest.raises(FaultsError) as caught:
        ReplayedWriter(path)
    text = str(caught.value)
    for part in (
        'replies.jsonl line 1, step: got "translate"; expected one of template, dialogues, rew',
        'line 2, line: got "list"; expected a JSON object',
        "line 3, target: got \"3\"; expected a template's or dialogue's id",
        'line 3, reply: got "nothing"; expected text, or null for none',
        'line 4, finish: got "error"; expected stop, length or another word for how it ended',
        "line 5, line:",
    ):
        assert part in text
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(FaultsError, match='entries: got "0"; expected at least one'):
        ReplayedWriter(empty)
