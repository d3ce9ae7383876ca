"""The item browser, in a real browser."""

from __future__ import annotations

import math
import re

import polars as pl
import pytest

from felicity.runner import read_run

from pages import PLAIN, REFUSAL, SCRIPT

ITEM = "quantity_1-01-1-w0-Leslie-Joan"
SCENE = "train-high-precise-helpful"


def count(page) -> int:
    text = page.locator(".count").inner_text()
    return int(re.match(r"([\d,]+) item", text)[1].replace(",", ""))


def choose(page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).select_option(option)


@pytest.fixture(scope="module")
def scored(choice_page):
    """The responses of the first run, as R or pandas would read them."""
    return read_run(choice_page.parent / "names").responses


def margins(responses) -> dict[str, float]:
    sides = [
        responses.filter(pl.col("answer_label") == label).select("item_id", "log_prob_mean")
        for label in ("follower", "violator")
    ]
    joined = sides[0].join(sides[1], on="item_id", suffix="_2")
    return {row[0]: row[1] - row[2] for row in joined.iter_rows()}


def test_filters_leave_what_they_say(visit, choice_page, scored):
    page = visit(choice_page, "#item=")
    page.locator(".row").first.wait_for()
    items = scored.unique("item_id")
    assert count(page) == items.height
    choose(page, "maxim", "quality")
    quality = items.filter(pl.col("maxim") == "quality")
    assert count(page) == quality.height
    choose(page, "outcome", "w")
    lost = {key for key, margin in margins(scored).items() if margin < 0}
    assert 0 < count(page) == len(lost & set(quality["item_id"]))
    choose(page, "wording", "1")
    both = lost & set(quality.filter(pl.col("wording") == "1")["item_id"])
    assert count(page) == len(both)
    page.get_by_role("button", name="Clear filters").click()
    assert count(page) == items.height
    page.get_by_label("Search").fill("RABBIT")
    assert (
        count(page)
        == items.filter(
            pl.concat_str("question", "item_id").str.to_lowercase().str.contains("rabbit")
            | pl.col("item_id").is_in(
                scored.filter(pl.col("answer").str.to_lowercase().str.contains("rabbit"))[
                    "item_id"
                ].to_list()
            )
        ).height
    )


def test_order_puts_the_clearest_losses_first(visit, choice_page, scored):
    page = visit(choice_page, "#item=&sort=lost")
    first = page.locator(".row").first
    first.wait_for()
    worst = min(margins(scored).values())
    assert first.locator("small").first.inner_text() == f"−{abs(worst):.2f}"


def test_only_rows_in_sight_are_in_the_page(visit, choice_page, scored):
    page = visit(choice_page, "#item=")
    page.locator(".row").first.wait_for()
    assert page.locator(".row").count() < 40
    page.get_by_role("listbox").focus()
    page.keyboard.press("End")
    last = page.locator(".row.cursor")
    assert last.get_attribute("aria-posinset") == str(scored["item_id"].n_unique())
    assert last.is_visible()


def test_tokens_are_shaded_by_surprisal_and_say_it_too(visit, choice_page, scored):
    page = visit(choice_page, f"#item={ITEM}")
    tokens = page.locator(".answer").first.locator(".token")
    tokens.first.wait_for()
    row = scored.filter((pl.col("item_id") == ITEM) & (pl.col("answer_label") == "follower"))
    bits = [-nats / math.log(2) for nats in row["log_probs"][0]]
    assert tokens.locator("small").all_inner_texts() == [f"{round(b, 2):.1f}" for b in bits]
    titles = [token.get_attribute("title") for token in tokens.all()]
    assert titles == [
        f"“{piece}”: {round(b, 2):.2f} bits"
        for piece, b in zip(row["tokens"][0], bits, strict=True)
    ]
    shades = [int(re.search(r"\bs(\d)", token.get_attribute("class"))[1]) for token in tokens.all()]
    assert shades == [sum(b >= edge for edge in (1, 2, 4, 6, 8, 11, 15)) for b in bits]
    colours = tokens.evaluate_all("all => all.map((t) => getComputedStyle(t).backgroundColor)")
    assert len(set(colours)) == len(set(shades)) > 1
    assert (
        f"{row['log_prob_mean'][0]:.3f}".replace("-", "−")
        in page.locator(".figures-of").first.inner_text()
    )


def test_margin_and_all_variants_of_the_dialogue(visit, choice_page, scored):
    page = visit(choice_page, f"#item={ITEM}")
    known = margins(scored)
    page.locator(".variant").first.wait_for()
    assert page.locator(".margin .big").inner_text() == f"{known[ITEM]:+.3f}".replace("-", "−")
    unit = scored.filter(pl.col("item_id") == ITEM)["unit"][0]
    same = scored.filter(pl.col("unit") == unit)["item_id"].unique()
    assert page.locator(".variant").count() == len(same)
    shown = {text.split()[-1] for text in page.locator(".variant").all_inner_texts()}
    assert shown == {f"{known[i]:+.2f}".replace("-", "−") for i in same}
    page.locator(".variant:not([aria-current])").first.click()
    page.locator(f"h2:not(:text-is('{ITEM}'))").wait_for()
    assert page.url.split("#item=")[1].split("&")[0] in set(same)


def test_what_stood_before_the_answer_is_shown_as_the_model_read_it(visit, choice_page):
    page = visit(choice_page, f"#item={ITEM}")
    page.get_by_text("Read before the answer").click()
    assert page.locator("pre").inner_text() == "Leslie: What does your rabbit like to eat?\nJoan:"


def test_two_models_are_compared_item_by_item(visit, choice_page, scored):
    page = visit(choice_page, "#item=")
    page.locator(".row").first.wait_for()
    other = page.get_by_label("Compare with").locator("option").nth(1).inner_text()
    choose(page, "Compare with", other)
    page.locator(".row .outcome").nth(1).wait_for()
    assert page.locator(".row").first.locator(".outcome").count() == 2
    plain = margins(read_run(choice_page.parent / "plain").responses)
    differ = sum((m > 0) != (plain[key] > 0) for key, m in margins(scored).items())
    choose(page, "the two models", "differ")
    assert 0 < differ == count(page)
    page.locator(".row").first.click()
    page.locator(".answer h4").first.wait_for()
    assert page.locator(".answer h4").count() == 4
    assert other in page.locator(".margins").inner_text()


def test_a_link_shows_the_same_to_somebody_else(visit, choice_page):
    page = visit(choice_page, "#item=", permissions=["clipboard-read", "clipboard-write"])
    page.locator(".row").first.wait_for()
    models = page.get_by_label("Model", exact=True).locator("option").all_inner_texts()
    choose(page, "Model", models[1])
    choose(page, "maxim", "relation")
    page.get_by_label("Search").fill("the")
    page.locator(".row").nth(2).click()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    there = visit(choice_page, "#" + link.split("#")[1])
    there.locator(".item h2").wait_for()
    assert there.locator(".item").inner_text() == page.locator(".item").inner_text().replace(
        "Copied", "Copy link"
    )
    assert count(there) == count(page)
    assert there.get_by_label("Model", exact=True).input_value() == models[1]
    assert there.locator(".row.cursor").get_attribute("aria-posinset") == "3"


def test_a_link_to_an_item_that_was_not_asked_says_so(visit, choice_page):
    page = visit(choice_page, "#item=nowhere")
    assert "was not asked the item “nowhere”" in page.locator(".detail").inner_text()


def test_the_keyboard_goes_everywhere(visit, choice_page):
    page = visit(choice_page, "#item=")
    page.locator(".row").first.wait_for()
    press = page.keyboard.press
    press("j")
    press("ArrowDown")
    press("k")
    assert page.locator(".row.cursor").get_attribute("aria-posinset") == "1"
    press("Enter")
    page.locator(".item h2").wait_for()
    first = page.locator(".item h2").inner_text()
    press("j")
    page.locator(f"h2:not(:text-is('{first}'))").wait_for()
    assert page.locator(".row.open").get_attribute("aria-posinset") == "2"
    press("Escape")
    page.locator(".item").wait_for(state="detached")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    press("/")
    page.keyboard.type("j/k")
    assert page.get_by_label("Search").input_value() == "j/k"
    press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"


def test_keys_that_come_before_the_page_is_drawn_count_too(visit, choice_page):
    page = visit(choice_page, "#item=")
    page.locator(".row").first.wait_for()
    page.evaluate(
        """() => { for (const key of ["j", "j", "j", "k", "Enter"])
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
    )
    page.locator(".item h2").wait_for()
    assert page.locator(".row.open").get_attribute("aria-posinset") == "2"


def test_every_stop_of_the_keyboard_is_seen(visit, choice_page):
    page = visit(choice_page, f"#item={ITEM}")
    page.locator(".item h2").wait_for()
    for _ in range(30):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
                 return [e.tagName, s.outlineStyle, parseFloat(s.outlineWidth)]; }"""
        )
        assert seen[0] == "BODY" or (seen[1] != "none" and seen[2] >= 1), seen


def test_a_phone_shows_the_list_or_the_item(visit, choice_page):
    page = visit(choice_page, "#item=", viewport={"width": 390, "height": 844})
    page.locator(".row").nth(1).click()
    page.locator(".item h2").wait_for()
    assert not page.locator(".list").is_visible()
    page.get_by_role("button", name="All items").click()
    page.locator(".list").wait_for(state="visible")
    assert not page.locator(".detail").is_visible()


def test_asked_replies_show_both_orders_and_what_was_picked(visit, choice_page):
    page = visit(choice_page, f"#item={ITEM}&model=told")
    page.locator(".reply").first.wait_for()
    assert page.locator(".reply").count() == 2
    assert page.locator(".reply").first.locator(".shown li").count() == 2
    status = page.locator(".reply .status").all_inner_texts()
    assert status[0] == "ok"
    assert re.search(r"[AB], (right|wrong)", page.locator(".reply").first.inner_text())


def test_hostile_replies_are_shown_as_text_and_do_nothing(visit, rating_page):
    page = visit(rating_page, f"#item={SCENE}&prompting=MIN")
    texts = page.locator(".reply p.text")
    texts.first.wait_for()
    assert page.title() == "Ratings"
    shown = texts.all_inner_texts()
    assert SCRIPT in shown
    assert PLAIN in shown
    assert REFUSAL in shown
    assert page.locator("#root script, #root img, #root i, #root u").count() == 0
    turned = texts.filter(has_text="\u05d4\u05ea")
    assert turned.locator(".unseen").all_inner_texts() == ["U+202E", "U+202C", "U+200B", "U+0007"]
    assert "\u202e" not in turned.inner_text()
    assert turned.locator("bdi").first.evaluate("e => getComputedStyle(e).direction") == "rtl"
    reply = page.locator(".reply").first
    assert reply.locator("header").evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_the_value_is_marked_where_it_was_read(visit, rating_page):
    page = visit(rating_page, f"#item={SCENE}&prompting=MIN")
    page.locator(".reply").first.wait_for()
    marks = {
        r.locator(".text").last.inner_text(): r.locator("mark")
        for r in page.locator(".reply").all()
    }
    assert marks[PLAIN].inner_text() == "6"
    assert marks[SCRIPT].inner_text() == "5"
    assert marks[REFUSAL].count() == 0
    assert page.locator(".reply .status").all_inner_texts() == ["ok", "unparsed", "ok", "refused"]


def test_the_request_the_reasoning_and_the_histogram(visit, rating_page):
    page = visit(rating_page, f"#item={SCENE}&prompting=MIN&vs=calm")
    page.locator(".histogram").first.wait_for()
    label = page.locator(".histogram svg").first.get_attribute("aria-label")
    assert "5: 1, 6: 1" in label
    assert "people's mean" in label
    assert "2: 4" in page.locator(".histogram svg").nth(1).get_attribute("aria-label")
    page.get_by_text("As sent to calm").click()
    assert page.locator("pre:visible").inner_text() == "A train. high precise How helpful?"
    reasoning = page.locator(".reply details").first
    reasoning.locator("summary").click()
    assert reasoning.locator(".text").inner_text() == "<u>Let me</u> see."


def test_ratings_are_filtered_by_status_and_prompting(visit, rating_page):
    page = visit(rating_page, "#item=")
    page.locator(".row").first.wait_for()
    everything = count(page)
    choose(page, "prompting", "ALT")
    assert count(page) * 2 == everything
    choose(page, "status", "refused")
    assert count(page) * 2 == everything
    choose(page, "Model", "calm")
    page.locator(".nothing", has_text="No item").wait_for()
    choose(page, "form", "precise")
    assert "f.form=precise" in page.evaluate("location.hash")
