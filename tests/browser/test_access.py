"""Pages for everyone: readable contrast, names for all controls, a keyboard that is enough."""

import pytest
from playwright.sync_api import expect

from .test_browse import pages

CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const over = (top, below) => top.slice(0, 3).map((v, k) => v * top[3] / 255 + below[k] * (1 - top[3] / 255));
  const ground = node => { const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 255 ? own : node.parentElement ? over(own, ground(node.parentElement)) : [255, 255, 255]; };
  const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, k) => s + v * [.2126, .7152, .0722][k], 0);
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const text = [...node.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join("");
    if (!text || !node.checkVisibility() || node.closest(":disabled, .skip, [data-part=origins] .tall, option")) continue;
    const back = ground(node), pair = [light(over(rgba(getComputedStyle(node).color), back)), light(back)].sort((a, b) => b - a);
    const ratio = (pair[0] + .05) / (pair[1] + .05);
    if (ratio < 4.5) poor.push(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return poor;
}"""
NAMELESS = """() => [...document.querySelectorAll("input, select, textarea, button, a, img, canvas, [role=img], [role=progressbar]")].filter(node => {
  const said = node.getAttribute("aria-label") || node.title || node.textContent.trim() || [...(node.labels || [])].map(l => l.textContent).join("").trim();
  return node.matches("img") ? !node.hasAttribute("alt") : !said && !node.querySelector("img[alt]:not([alt=''])");
}).map(node => node.outerHTML.slice(0, 90))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_everything_has_a_name(person, bench, scheme):
    page, titles = person(color_scheme=scheme), set()
    for path in pages(bench):
        page.goto(path)
        assert page.evaluate(CONTRAST) == [], path
        assert page.evaluate(NAMELESS) == [], path
        assert page.locator("h1").count() == 1 and page.locator("html[lang]").count() == 1, path
        assert not page.evaluate(
            "[...document.querySelectorAll('[id]')].map(n => n.id).filter((id, k, all) => all.indexOf(id) !== k)"
        )
        titles.add(page.title())
    assert len(titles) == len(pages(bench)) and all(t.endswith("foible") for t in titles)


def test_the_keyboard_is_enough_and_shows_where_it_is(person, bench):
    page = person()
    page.goto("/runs/toy-wide/findings")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    focused = page.evaluate(
        "(n => [n.closest('main') !== null, getComputedStyle(n).outlineStyle])(document.activeElement)"
    )
    assert focused == [True, "solid"], "the skip link leads into the page, and the outline is drawn"
    first = page.locator(".card").first
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/findings/*")
    first_address = page.url
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pages")).to_contain_text("2 of")
    page.wait_for_load_state("load")  # the page listens to keys from then on
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(first_address)


def test_a_field_that_cannot_be_says_so_to_everyone(person):
    page = person()
    page.goto("/setup")
    page.locator("[name=attempts]").fill("0")
    expect(page.get_by_role("alert")).to_contain_text("starting images")
    expect(page.locator("[name=attempts]")).to_have_attribute("aria-invalid", "true")
    page.locator("[name=attempts]").fill("3")
    expect(page.locator("[name=attempts]")).not_to_have_attribute("aria-invalid", "true")
