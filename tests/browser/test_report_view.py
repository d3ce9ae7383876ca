"""The first screen, figures and tables, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages import TITLE

WORST = (Path(__file__).parent / "contrast.js").read_text("utf-8")


def test_the_first_screen_says_what_was_found_and_what_to_be_careful_about(visit, choice_page):
    page = visit(choice_page)
    assert page.title() == TITLE
    assert page.locator("h1").inner_text() == TITLE
    assert "wins in .58" in page.locator(".headline").inner_text()
    assert page.locator(".cautions li").all_inner_texts() == ["Two <em>replies</em> are missing."]
    assert page.locator("#summary tbody tr").count() == 1


def test_tables_sort_by_number_and_people_stay_below(visit, choice_page):
    page = visit(choice_page)
    table = page.locator("#table-table")

    def shown() -> list[str]:
        return table.locator("tbody tr > :first-child").all_inner_texts()

    assert shown() == ["b", "a", "c", "People"]
    share = table.locator("thead th", has_text="Share")
    share.locator("button").click()
    assert share.get_attribute("aria-sort") == "descending"
    share.locator("button").click()
    assert share.get_attribute("aria-sort") == "ascending"
    assert shown() == ["a", "b", "c", "People"]
    share.locator("button").click()
    assert shown() == ["b", "a", "c", "People"]
    usable = table.locator("thead th", has_text="Usable").locator("button")
    usable.click()
    assert shown() == ["a", "b", "c", "People"]
    assert table.locator("b").inner_text() == ".58 [.49, .67]"


def test_a_table_is_copied_as_latex(visit, choice_page):
    page = visit(choice_page, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#table-table").get_by_role("button", name="Copy as LaTeX").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert r"\toprule" in copied
    assert r"\caption{Shares \& such." in copied


def test_a_figure_out_of_sight_is_drawn_too_and_tells_its_numbers(visit, choice_page):
    page = visit(choice_page, viewport={"width": 1280, "height": 300})
    # Once the page is idle, so that "find in page" and paper have all of it.
    page.locator(".paper svg").wait_for(state="attached")
    assert page.evaluate("scrollY") == 0
    page.locator("#figure-shares").scroll_into_view_if_needed()
    mark = page.locator('.paper .role-mark [role="graphics-symbol"]')
    mark.nth(1).hover()
    assert {"n: 38", "share: 0.75"} <= set(page.locator(".tip").inner_text().split("\n"))
    page.mouse.move(1, 1)
    page.locator(".tip").wait_for(state="detached")
    mark.first.focus()
    assert "n: 40" in page.locator(".tip").inner_text()
    page.keyboard.press("ArrowRight")
    assert "n: 38" in page.locator(".tip").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_contrast_is_at_least_that_of_wcag_aa(visit, choice_page, rating_page, scheme, width):
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 844}}
    for path in (choice_page, rating_page):
        page = visit(path, **options)
        page.locator("h1").wait_for()
        assert page.evaluate(WORST) == []
        page.evaluate("location.hash = '#item='")
        page.locator(".row").first.wait_for()
        assert page.evaluate(WORST) == []
        page.locator(".row").first.click()
        page.locator(".item details").first.wait_for()
        page.evaluate("document.querySelectorAll('.item details').forEach((d) => (d.open = true))")
        assert page.evaluate(WORST) == []


def test_poor_contrast_would_be_found(visit, choice_page):
    page = visit(choice_page, color_scheme="light")
    page.add_style_tag(content=".headline { color: #999 }")
    found = page.evaluate(WORST)
    assert len(found) >= 1
    assert all(name.startswith("P ") for name in found)


def test_dark_is_what_the_system_asks_for_and_can_be_changed(visit, choice_page):
    def ground(page) -> int:
        text = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in text.removeprefix("rgb(").rstrip(")").split(","))

    dark = visit(choice_page, color_scheme="dark")
    assert ground(dark) < 120
    dark.get_by_role("button", name="Switch to light colours").click()
    assert ground(dark) > 700
    dark.reload()
    dark.locator("h1").wait_for()
    assert ground(dark) > 700
    assert ground(visit(choice_page, color_scheme="light")) > 700


@pytest.mark.parametrize("hash_", ["", "#item=", "#item=quantity_1-01-1-w0-Leslie-Joan"])
def test_nothing_is_wider_than_a_phone(visit, choice_page, hash_):
    page = visit(choice_page, hash_, viewport={"width": 390, "height": 844})
    page.locator("#main").wait_for()
    page.wait_for_timeout(200)
    wide = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((element) =>
             element.checkVisibility() && !element.closest(".wide, .offscreen, .skip, pre, svg") &&
             element.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.className)"""
    )
    assert wide == []


def test_the_page_is_read_without_scripts(visit, choice_page):
    page = visit(choice_page, java_script_enabled=False)
    assert "needs JavaScript" in page.locator("noscript").inner_text()
