"""Prompts are compositions of blocks: nothing lost, nothing said twice, the same every time."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from felicity.cli import main
from felicity.errors import FaultsError, OptionError
from felicity.rating.prompts import conversations
from felicity.rating.study import RatingStudy
from felicity.study import BUILT_IN, load_rating_study

NAME = "social-meaning"


@pytest.fixture(scope="module")
def study() -> RatingStudy:
    return load_rating_study(NAME)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUILT_IN / NAME, tmp_path / "copy"))


def block(name: str) -> str:
    return (BUILT_IN / NAME / "prompts" / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def test_a_prompt_is_its_blocks(study: RatingStudy) -> None:
    """By a second route: the files, with each placeholder replaced by hand."""
    text = "\n\n".join(map(block, ("description", "worked_example", "situation", "task")))
    for name, value in {
        "opening": "Martin has bought a house and is talking to Karen about it.",
        "setting": study.items[0].texts["setting"],
        "asker": "Karen",
        "speaker": "Martin",
        "question": "When was the house finished?",
        "answer": "It was finished on September 15, 1983.",
        "attribute": "well-prepared",
        "low": "1",
        "high": "7",
        "low_label": "not at all",
        "high_label": "very",
    }.items():
        text = text.replace(f"{{{name}}}", value)
    where = {"attribute": "well-prepared"}
    got = conversations(study, promptings=["ALT"], repeats=1, where=where, limit=1)
    assert [turn.text for turn in got[0].turns] == [text]


def test_the_four_promptings_differ_in_their_blocks_alone(study: RatingStudy) -> None:
    texts = {
        name: {
            conversation.turns[0].item_id: conversation.turns[0].text
            for conversation in conversations(study, promptings=[name], repeats=1)
        }
        for name in study.promptings
    }
    example = block("worked_example") + "\n\n"
    for item in study.items:
        got = {name: texts[name][item.item_id] for name in texts}
        assert got["ALT"].replace(example, "") == got["MIN"]
        assert got["COM"].replace(example, "") == got["KMA"]
        assert example in got["ALT"]
        assert example in got["COM"]
        scene = got["MIN"].split("\n\n")[1]
        assert scene in got["KMA"]
        assert got["KMA"].endswith("\nRating: N")
        assert "Rating" not in got["MIN"]


def test_every_prompt_is_filled_and_different(study: RatingStudy) -> None:
    every = conversations(study, repeats=1)
    texts = [conversation.turns[0].text for conversation in every]
    assert len(texts) == len(set(texts)) == 576
    for conversation, text in zip(every, texts, strict=True):
        attribute = next(
            item.factors["attribute"]
            for item in study.items
            if item.item_id == conversation.turns[0].item_id
        )
        assert not re.search(r"[{}]|\n\n\n|  |[ \t]\n", text)
        assert f"1 = not at all {attribute} and 7 = very {attribute}" in text


def test_ids(study: RatingStudy) -> None:
    every = conversations(study)
    trials = [turn.trial_id for conversation in every for turn in conversation.turns]
    assert len(trials) == len(set(trials)) == 5760
    assert trials[:2] == [
        "house-high-precise-competent|MIN|0",
        "house-high-precise-competent|MIN|1",
    ]
    assert all(c.conversation_id == c.turns[0].trial_id and len(c.turns) == 1 for c in every)
    blocks = conversations(study, presentation="block")
    assert len({c.conversation_id for c in blocks}) == len(blocks) == 960
    assert sorted(turn.trial_id for c in blocks for turn in c.turns) == sorted(trials)
    assert blocks[0].conversation_id == "house-high-precise|MIN|0"


def test_a_block_says_the_scene_once(study: RatingStudy) -> None:
    for conversation in conversations(study, presentation="block", repeats=1):
        first, *later = [turn.text for turn in conversation.turns]
        single = conversations(
            study,
            promptings=[conversation.prompting],
            repeats=1,
            where=dict(
                zip(
                    ("scenario", "context", "form"),
                    conversation.conversation_id.split("|")[0].split("-"),
                    strict=True,
                )
            ),
        )
        # The first turn is the single prompt; the later ones are its end, from the task on.
        assert [turn.item_id for turn in conversation.turns] == [c.turns[0].item_id for c in single]
        assert first == single[0].turns[0].text
        for text, alone in zip(later, single[1:], strict=True):
            assert alone.turns[0].text.endswith("\n\n" + text)
            assert "answers:" not in text
            assert "short scene" not in text
            assert "= not at all" in text


def test_a_block_of_one_attribute_is_a_single_prompt(study: RatingStudy) -> None:
    where = {"attribute": "pedantic"}
    block_turns = [c.turns for c in conversations(study, presentation="block", where=where)]
    assert block_turns == [c.turns for c in conversations(study, where=where)]


def orders(study: RatingStudy, seed: int, repeats: int = 10) -> dict[str, tuple[str, ...]]:
    return {
        c.conversation_id: tuple(turn.item_id for turn in c.turns)
        for c in conversations(
            study, presentation="block", order="random", seed=seed, repeats=repeats
        )
    }


def test_random_order_is_drawn_for_each_conversation(study: RatingStudy) -> None:
    drawn = orders(study, 1)
    assert drawn == orders(study, 1)
    assert drawn != orders(study, 2)
    # A conversation's order depends on nothing but seed and id.
    few = orders(study, 1, repeats=2)
    assert few == {name: drawn[name] for name in few}
    for conversation_id, items in drawn.items():
        scene = conversation_id.split("|")[0]
        assert sorted(items) == sorted(f"{scene}-{name}" for name in study.attributes)
    # 960 conversations: each attribute is at each place about 160 times (sd 11.5).
    places = Counter(
        (place, item.split("-", 3)[3])
        for items in drawn.values()
        for place, item in enumerate(items)
    )
    assert len(places) == 36
    assert all(abs(count - 160) < 5 * 11.5 for count in places.values())


def test_random_order_says_the_scene_first(study: RatingStudy) -> None:
    for conversation in conversations(study, presentation="block", order="random", repeats=1):
        assert ["answers:" in turn.text for turn in conversation.turns][:1] == [True]
        assert not any("The scene:" in turn.text for turn in conversation.turns[1:])


def test_selection_and_repeats(study: RatingStudy) -> None:
    got = conversations(
        study, promptings=["COM", "MIN"], repeats=2, where={"context": "low"}, limit=3
    )
    assert [c.prompting for c in got] == ["COM"] * 6 + ["MIN"] * 6
    assert [c.repeat for c in got] == [0, 1] * 6
    assert {c.turns[0].item_id.split("-")[1] for c in got} == {"low"}
    scenes = conversations(study, presentation="block", promptings=["MIN"], repeats=1, limit=2)
    assert [len(c.turns) for c in scenes] == [6, 6]
    assert len(conversations(study, promptings=["MIN"], limit=1)) == study.repeats


def test_a_prompting_is_added_without_code(folder: Path) -> None:
    (folder / "prompts" / "mood.txt").write_text(
        "\ufeffImagine that {speaker} is in a hurry {or not}.\r\n", encoding="utf-8"
    )
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace("[run]", 'HURRY = ["situation", "mood", "task"]\n\n[run]')
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    # "{or not}" is no placeholder: braces around more than a word stay as they are.
    study = load_rating_study(folder)
    assert list(study.promptings) == ["MIN", "ALT", "KMA", "COM", "HURRY"]
    got = conversations(study, promptings=["HURRY"], repeats=1, limit=1)[0].turns[0]
    assert got.text.split("\n\n")[1] == "Imagine that Martin is in a hurry {or not}."
    assert got.trial_id == "house-high-precise-competent|HURRY|0"
    (folder / "prompts" / "mood.txt").write_text("{spaeker}", encoding="utf-8")
    with pytest.raises(FaultsError, match=r"mood\.txt line 1, placeholder: got \"{spaeker}\""):
        load_rating_study(folder)


def test_a_system_message(study: RatingStudy, folder: Path) -> None:
    assert {c.system for c in conversations(study, repeats=1)} == {None}
    (folder / "prompts" / "system.txt").write_text(
        "You know {speaker}. Rate from {low} to {high}.\n", encoding="utf-8"
    )
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(toml.replace("# system =", "system ="), encoding="utf-8")
    with_system = load_rating_study(folder)
    got = conversations(with_system, presentation="block", repeats=1)
    assert got[0].system == "You know Martin. Rate from 1 to 7."
    assert [c.turns for c in got] == [
        c.turns for c in conversations(study, presentation="block", repeats=1)
    ]


def test_a_text_that_varies_with_the_attribute(folder: Path) -> None:
    """The question need not name the attribute itself: a field may say it in other words."""
    scenarios = folder / "scenarios.toml"
    text = scenarios.read_text(encoding="utf-8")
    attributes = load_rating_study(folder).attributes
    table = "".join(f'"{name}" = "trait {place}"\n' for place, name in enumerate(attributes))
    text = re.sub(r"\[scenario\.number\]", f"[scenario.trait]\n{table}[scenario.number]", text)
    scenarios.write_text(text, encoding="utf-8")
    task = folder / "prompts" / "task.txt"
    task.write_text("Does {speaker} have {trait}?", encoding="utf-8")
    study = load_rating_study(folder)
    turns = conversations(study, promptings=["MIN"], presentation="block", repeats=1)[0].turns
    assert [turn.text for turn in turns[1:]] == [
        f"Does Martin have trait {place}?" for place in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"promptings": ["MAX"]}, 'prompting: got "MAX"; expected one of MIN, ALT, KMA, COM'),
        ({"promptings": []}, "prompting: got none; expected each prompting once"),
        ({"promptings": ["MIN", "MIN"]}, "prompting: got MIN, MIN; expected each prompting once"),
        ({"repeats": 0}, "repeats: got 0; expected a whole number from 1"),
        ({"limit": 0}, "limit: got 0; expected a whole number from 1"),
        ({"presentation": "pairs"}, 'presentation: got "pairs"; expected one of single, block'),
        ({"order": "sorted"}, 'order: got "sorted"; expected one of fixed, random'),
    ],
)
def test_options_that_are_not_allowed(
    study: RatingStudy, options: dict[str, object], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        conversations(study, **options)  # type: ignore[arg-type]  # wrong on purpose
    assert str(caught.value) == message


def test_command_line_shows_what_is_sent(
    study: RatingStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["prompts", NAME, "--prompting", "COM", "--where", "attribute=pedantic"]
    with pytest.raises(SystemExit, match="0"):
        main([*arguments, "--limit", "1"])
    out = capsys.readouterr().out
    sent = conversations(study, promptings=["COM"], where={"attribute": "pedantic"}, limit=1)
    assert out == (
        "=== house-high-precise-pedantic|COM|0\n"
        f"--- user\n{sent[0].turns[0].text}\n--- assistant\n(the reply)\n\n"
    )


def test_command_line_as_json(study: RatingStudy, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--presentation", "block", "--order", "random", "--seed", "3", "--limit", "2"]
    with pytest.raises(SystemExit, match="0"):
        main(["prompts", NAME, "--prompting", "KMA", *arguments, "--json"])
    shown = json.loads(capsys.readouterr().out)
    sent = conversations(
        study, promptings=["KMA"], presentation="block", order="random", seed=3, repeats=1, limit=2
    )
    assert [row["conversation_id"] for row in shown] == [c.conversation_id for c in sent]
    for row, conversation in zip(shown, sent, strict=True):
        assert [m["role"] for m in row["messages"]] == ["user", "assistant"] * 6
        assert [m["content"] for m in row["messages"]] == list(
            itertools.chain.from_iterable((turn.text, None) for turn in conversation.turns)
        )


def test_command_line_refuses_a_choice_study(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["prompts", "gricean-maxims"])
    assert "got a choice study; expected a rating study" in capsys.readouterr().err
