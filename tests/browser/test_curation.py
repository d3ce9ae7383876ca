"""Judging a set in a real browser, by the keys: a server that is killed, tabs that differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from felicity.build.adding import add_rows
from felicity.build.decisions import read_decisions
from felicity.build.folder import read_build
from felicity.cli import main

from curating import command, serving, small_set

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
LOST = "net::ERR_CONNECTION"


@pytest.fixture
def sit(chromium) -> Iterator[Callable[..., Any]]:
    """Sit down before a page, in a browser of one's own, under a name."""
    contexts, wrong = [], []

    def go(address: str, name: str | None, **options: Any) -> Any:
        context = options.pop("context", None)
        if context is None:
            context = chromium.new_context(
                **{"viewport": {"width": 1200, "height": 900}, **options}
            )
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda r: r.url.startswith("http://127.0.0.1") or wrong.append(r.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: m.type != "error" or LOST in m.text or wrong.append(m.text))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.goto(address)
        if name is not None:
            page.get_by_label("Name").fill(name)
            page.keyboard.press("Enter")
        page.locator("main form, main article, main .card").first.wait_for()
        return page

    yield go
    for context in contexts:
        context.close()
    assert not wrong


def open_dialogue(page) -> str:
    return page.evaluate("new URLSearchParams(location.hash.slice(1)).get('dialogue')")


def choose(page, key: str) -> None:
    page.get_by_text("Which answer breaks").wait_for()
    page.keyboard.press(key)
    page.get_by_role("region", name="Judgement").wait_for()


def done(page, count: int) -> None:
    page.locator(".progress b", has_text=str(count)).wait_for()


def judge(page, rejects: set[str], count: int) -> str:
    """Choose the first answer and judge the open dialogue, with keys alone."""
    dialogue = open_dialogue(page)
    choose(page, "1")
    if dialogue in rejects:
        for key in ("r", "1", "5", "c"):
            page.keyboard.press(key)
        page.keyboard.type("not so")
        page.keyboard.press("Control+Enter")
    else:
        page.keyboard.press("a")
    done(page, count)
    if count < 5:
        page.wait_for_function("was => !location.hash.includes(was)", arg=dialogue)
    return dialogue


def printed(capsys, *words: object) -> str:
    with pytest.raises(SystemExit) as stop:
        main([*map(str, words)])
    assert not stop.value.code
    return capsys.readouterr().out


def test_two_annotators_a_killed_server_and_the_study_of_it(sit, tmp_path, capsys):
    folder, study = tmp_path / "set", tmp_path / "study"
    small_set(folder)
    both, one = "quality-01-1", "relation-01-1"
    with command(folder) as (process, address):
        ann, bo = sit(address, "Ann"), sit(address, "Bo")
        assert "violator" not in ann.locator("article").inner_text()
        order = [judge(ann, {both}, count) for count in range(1, 6)]
        assert ann.get_by_text("That was the last one").is_visible()
        first = [judge(bo, {both, one}, count) for count in (1, 2)]
        waits = open_dialogue(bo)
        choose(bo, "2")
        process.kill()
        process.wait()
        bo.keyboard.press("c")
        bo.keyboard.type("half of a comment")
        bo.keyboard.press("Escape")
        bo.keyboard.press("a")
        assert "not saved yet" in bo.get_by_role("alert").inner_text()
        assert open_dialogue(bo) == waits
    rows = read_decisions(folder)
    assert [d.dialogue_id for d in rows if d.annotator == "Ann" and d.judges] == order
    assert [d.kind for d in rows if d.annotator == "Bo"][-1] == "choose"
    with command(folder) as (_, address):
        bo = sit(address, "Bo")
        done(bo, 2)
        assert open_dialogue(bo) == waits
        assert bo.get_by_text("chosen as the violator").is_visible()
        if waits in (both, one):
            for key in ("r", "6", "Control+Enter"):
                bo.keyboard.press(key)
        else:
            bo.keyboard.press("a")
        done(bo, 3)
        bo.wait_for_function("was => !location.hash.includes(was)", arg=waits)
        rest = [judge(bo, {both, one}, count) for count in (4, 5)]
        assert {*first, waits, *rest} == {*order}
        cy = sit(f"{address}adjudicate", "Cy")
        assert cy.get_by_text("of 1 settled").is_visible()
        assert open_dialogue(cy) == one
        assert "Annotator 2" in cy.locator(".others").inner_text()
        cy.keyboard.press("a")
        done(cy, 1)
    [pair] = json.loads(printed(capsys, "build", "agreement", folder, "--json"))["pairs"]
    # Of 15 lines both keep 9, both reject 3, and Bo alone rejects 3.
    assert (pair["lines"], pair["same"]) == (15, 12)
    assert pair["kappa"] == pytest.approx((12 / 15 - 126 / 225) / (1 - 126 / 225))
    assert pair["kappa_interval"]["low"] < pair["kappa"] < pair["kappa_interval"]["high"] <= 1
    assert "Ann and Bo" in printed(capsys, "build", "status", folder)
    printed(capsys, "build", "export", folder, "--study", study)
    sheet = (study / "README.md").read_text(encoding="utf-8")
    assert "| annotator-1 and annotator-2 | 12 of 15 | " in sheet
    assert f" | {pair['kappa']:.2f} | " in sheet
    lines = (study / "dialogues.jsonl").read_text(encoding="utf-8").splitlines()
    kept = {json.loads(line)["dialogue_id"] for line in lines}
    assert kept == {*order} - {both}


def test_what_was_not_saved_is_sent_again_until_it_is(sit, tmp_path):
    folder = tmp_path / "set"
    small_set(folder)
    with serving(folder) as client:
        page = sit(client.address, "Ann")
        choose(page, "1")
        port, token = client.address.split(":")[2].split("/")[:2]
    page.keyboard.press("a")
    page.get_by_role("alert").get_by_text("not saved yet").wait_for()
    assert not [d for d in read_decisions(folder) if d.judges]
    with serving(folder, port=int(port), token=token):
        page.get_by_text("Saved: accepted").wait_for()
        assert [d.kind for d in read_decisions(folder)] == ["choose", "accept"]


def test_two_tabs_and_undo(sit, tmp_path):
    folder = tmp_path / "set"
    small_set(folder)
    with serving(folder) as client:
        one = sit(client.address, "Ann")
        choose(one, "2")
        here = open_dialogue(one)
        address = f"{client.address}#dialogue={here}"
        two = sit(address, "Ann", context=one.context)
        far = sit(address, "Ann")
        for page in (two, far):
            page.get_by_role("region", name="Judgement").wait_for()
        # A page that the others' news does not reach decides later: both are kept, it is told.
        far.route("**/api/show*", lambda route: route.abort("connectionrefused"))
        one.keyboard.press("a")
        done(two, 1)  # the tab of the same browser hears of it
        for key in ("r", "2", "Control+Enter"):
            far.keyboard.press(key)
        far.get_by_text("Another tab had decided here").wait_for()
        kinds = [d.kind for d in read_decisions(folder)]
        assert kinds == ["choose", "accept", "reject"]
        two.reload()
        two.locator(".chip.is-rejected").first.wait_for()
        two.keyboard.press("u")
        two.locator(".mine .chip.is-accepted").wait_for()
        two.keyboard.press("u")
        done(two, 0)
        assert [d.undoes for d in read_decisions(folder)][3:] == [3, 2]
        two.keyboard.press("u")
        two.get_by_text("There is nothing to undo").wait_for()


def test_edit_by_keys_and_what_was_typed_outlives_the_tab(sit, tmp_path):
    folder = tmp_path / "set"
    small_set(folder)
    with serving(folder) as client:
        page = sit(client.address, "Ann")
        here = open_dialogue(page)
        choose(page, "1")
        page.keyboard.press("w")
        page.keyboard.press("e")
        page.get_by_label("question").wait_for()
        page.keyboard.press("Control+A")
        page.keyboard.type("What, then, a e r u?")
        context = page.context
        page.close()
        other = sit(f"{client.address}#dialogue={here}", "Ann", context=context)
        other.get_by_label("question").wait_for()
        assert other.get_by_label("question").input_value() == "What, then, a e r u?"
        other.keyboard.press("Control+Enter")
        other.locator(".wordings .chip.is-edited").wait_for()
        edit = read_decisions(folder)[-1]
        assert (edit.kind, edit.wording) == ("edit", "1")
        assert edit.texts == {"question": "What, then, a e r u?"}
        # The rest of the dialogue waits still.
        assert open_dialogue(other) == here
        other.keyboard.press("a")
        done(other, 1)


HOSTILE = '<img src=x onerror="alert(1)"> </script><script>alert(2)</script> ${7*7} \u202eevil'


def test_hostile_texts_are_texts(sit, tmp_path):
    folder = tmp_path / "set"
    small_set(folder)
    row = {"maxim": "quality", "question": HOSTILE, "follower": f"A {HOSTILE}", "violator": "B"}
    # The mark that turns the text about is one that a file may bring, but no form.
    row = {name: text.replace("\u202e", "") for name, text in row.items()}
    [line] = add_rows(folder, [(1, row)], "rows", "<b>Eve</b>")
    text = (folder / "dialogues.jsonl").read_text(encoding="utf-8")
    (folder / "dialogues.jsonl").write_text(text.replace(" evil", " \u202eevil"), encoding="utf-8")
    with serving(folder) as client:
        page = sit(f"{client.address}#dialogue={line.dialogue_id}", '<i title="x">Ann</i>')
        page.locator(".first .question").get_by_text("<img src=x onerror=").wait_for()
        assert page.locator(".first .question .unseen").inner_text() == "U+202E"
        choose(page, "1")
        page.keyboard.press("c")
        page.keyboard.type(HOSTILE.replace("\u202e", ""))
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        done(page, 1)
        page.keyboard.press("ArrowLeft")
        page.goto(f"{client.address}#dialogue={line.dialogue_id}")
        page.reload()
        page.locator(".mine q").get_by_text("<script>alert(2)</script>").wait_for()
        assert page.locator(".who").inner_text() == '<i title="x">Ann</i>'
        assert page.locator("main img, main script, .top i").count() == 0


def test_writing_in_the_page(sit, tmp_path):
    folder = tmp_path / "set"
    small_set(folder)
    with serving(folder, annotator="Dee") as client:
        page = sit(f"{client.address}write", None)
        page.get_by_label("Maxim").select_option("relation")
        for field, text in (("question", "Who sang?"), ("follower", "A bird sang."),
                            ("violator", "A bird sang.")):  # fmt: skip
            page.get_by_label(field, exact=True).fill(text)
        page.get_by_label("violator", exact=True).fill("I ate a pear.")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Added relation-02-1, wording 0").wait_for()
        page.get_by_label("What", exact=True).select_option("rewording")
        page.get_by_label("Dialogue").select_option("relation-02-1")
        page.locator(".wordings").get_by_text("Who sang?").wait_for()
        page.get_by_label("question", exact=True).fill("Who was singing?")
        page.get_by_role("button", name="Add it").click()
        page.get_by_text("Added relation-02-1, wording 1").wait_for()
    lines = read_build(folder).of_dialogue("relation-02-1")
    assert [line.question for line in lines] == ["Who sang?", "Who was singing?"]
    assert {(line.made.by, line.made.kind) for line in lines} == {("Dee", "person")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_on_a_phone_and_in_the_dark(sit, tmp_path, scheme):
    folder = tmp_path / "set"
    small_set(folder)
    with serving(folder, annotator="Ann") as client:
        page = sit(client.address, None, viewport={"width": 360, "height": 740},
                   color_scheme=scheme)  # fmt: skip
        page.get_by_text("Which answer breaks").wait_for()
        assert page.evaluate(CONTRAST) == []
        choose(page, "2")
        page.keyboard.press("r")
        page.keyboard.press("3")
        page.get_by_label("a rewording changes").wait_for()
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
