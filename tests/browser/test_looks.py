"""Every page, wide and narrow, light and dark: readable, named, nothing sticks out; light to send and quick to paint."""

import pytest

from foible.store import open_run

from .conftest import ZOO, first_paint, in_all_looks, processor_seconds, slowness

PAGES = (
    "/",
    "/runs",
    "/setup",
    "/setup?question=borders",
    "/setup?question=changes&domain=cifar10",
    "/ask/coverage",
    "/ask/judging",
    "/runs/toy-wide",
    "/runs/toy-wide/people/results",
    "/runs/digits/log",
    "/runs/none",
)
OF_A_RUN = (
    "/runs/{run}",
    "/runs/{run}/findings",
    "/runs/{run}/findings/{attempt}",
    "/compare?run={run}&run={run}-again",
    "/runs/{run}/people",
    "/runs/{run}/export",
)
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
  return !node.matches("[hidden], [type=hidden], [data-download]") && (node.matches("img") ? !node.hasAttribute("alt") : !said && !node.querySelector("img[alt]:not([alt=''])"));
}).map(node => node.outerHTML.slice(0, 90))"""
TWICE = "[...document.querySelectorAll('[id]')].map(n => n.id).filter((id, k, all) => all.indexOf(id) !== k)"
BLOCKING = (
    "performance.getEntriesByType('resource').filter(e => ['link', 'script', 'css'].includes(e.initiatorType)).length"
)
# A class name is broken when it is drawn on more lines than it has words.
BROKEN = """() => { const range = document.createRange();
  return [...document.querySelectorAll(".matrix th, .card h3, .card dd b, .names li, .bars .name")].flatMap(node => {
    const text = [...node.childNodes].find(n => n.nodeType === 3 && n.textContent.trim());
    return !text || !node.checkVisibility() ? [] : [...text.textContent.matchAll(/\\S+/g)].filter(word => {
      range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
      const boxes = [...range.getClientRects()];
      return boxes.some(box => Math.abs(box.top - boxes[0].top) > 3) && boxes.some(box => Math.abs(box.left - boxes[0].left) > 3);
    }).map(word => word[0]); }); }"""


TORN = """() => Promise.all([...document.images].filter(image => image.checkVisibility()).map(image => {
  image.loading = "eager"; return image.decode().then(() => null, () => image.src); })).then(said => said.filter(Boolean))"""


@pytest.fixture(scope="module")
def paths(bench):
    first = {run: open_run(bench.runs / run).index()[0].key for run in ZOO}
    return [*PAGES, *(path.format(run=run, attempt=first[run]) for path in OF_A_RUN for run in ZOO)]


def test_every_page_in_all_looks(person, bench, paths):
    page, titles, costs, paints = person(), set(), {}, {}
    for path in paths:
        before = processor_seconds(bench.process)
        page.goto(path)
        paints[path] = first_paint(page)
        costs[path] = processor_seconds(bench.process) - before
        assert page.evaluate(BLOCKING) <= 5, path

        def check(width, scheme, path=path):
            assert page.evaluate(CONTRAST) == [], (path, scheme)
            assert page.evaluate(BROKEN) == [], (path, width)

        in_all_looks(page, check)
        assert page.evaluate(NAMELESS) == [], path
        assert page.evaluate(TORN) == [], path
        assert not page.evaluate(TWICE), path
        assert page.locator("h1").count() == 1 and page.locator("html[lang]").count() == 1, path
        titles.add(page.title())
        if path.startswith("/setup"):
            assert page.evaluate("document.documentElement.scrollHeight") <= 1.5 * 860, "one and a half screens"
    assert len(titles) >= len(paths) - 3 and all("foible" in title for title in titles)
    print("first paints, milliseconds:", {path: round(paint) for path, paint in paints.items()})
    assert sorted(paints.values())[len(paints) // 2] < 500 * slowness(), paints
    assert sorted(costs.values())[len(costs) // 2] < 0.3 * slowness(), costs


BARS = "[...document.querySelectorAll('.fill')].map(n => getComputedStyle(n).printColorAdjust)"


def test_printed_pages_keep_their_bars(person):
    page = person()
    for path in ("/runs/photos", "/runs/digits/report"):
        page.goto(path)
        page.emulate_media(media="print")
        assert set(page.evaluate(BARS)) == {"exact"}, path
        assert not page.locator(".top, .actions").locator("visible=true").count(), "what is clicked is not printed"
