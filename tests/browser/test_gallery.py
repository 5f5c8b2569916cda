"""Failures to look at: enlarged, selected, sorted, labelled on the spot, side by side; by mouse and by keyboard."""

import io
import json
import re
import zipfile

from playwright.sync_api import expect

from foible.records import Key
from foible.store import open_run
from foible.store.answers import read_answers
from foible.store.layout import Layout
from foible.store.selection import counts

from .conftest import SLOW, in_all_looks, in_both_ways

DRAWN = {"digits": "pixelated", "photos": "auto"}


@in_both_ways
def test_failures_are_enlarged_selected_labelled_and_taken_away(person, bench, name, width, scheme):
    run = open_run(bench.runs / name)
    lines = run.index()
    page = person(width, scheme)
    page.goto(f"/runs/{name}/findings")
    expect(page.locator(".card")).to_have_count(len(lines))
    assert page.locator(".card img").first.evaluate("i => getComputedStyle(i).imageRendering") == DRAWN[name]
    page.get_by_role("button", name="Small").click()
    assert page.locator(".card img").first.evaluate("i => i.clientWidth <= i.naturalWidth")
    page.get_by_role("button", name="Smooth").click()
    first = page.locator(".card").first
    key = first.get_attribute("data-finding")
    first.locator(".open").click()
    large = page.locator("#large")
    expect(large).to_be_visible()
    assert large.locator("img").first.bounding_box()["width"] > first.locator("img").first.bounding_box()["width"]
    in_all_looks(page)
    large.get_by_text("Say what you see").click()
    large.get_by_label("Your name").fill("Spot")
    large.locator("[data-say='-1']").click()
    expect(large.locator(".said")).to_have_text("Noted: not recognisable.")
    [answer] = read_answers(Layout(bench.runs / name)).by_person["Spot"].items()
    assert (str(answer[0]), answer[1]) == (key, -1)
    with page.expect_download() as download:
        large.get_by_role("link", name="Download").click()
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"
    page.keyboard.press("ArrowRight")
    second = page.locator(".card").nth(1)
    expect(large.locator("[data-page]")).to_have_attribute(
        "href", re.compile(f"/findings/{second.get_attribute('data-finding')}")
    )
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()
    for card in (first, second):
        card.get_by_role("checkbox").check()
    expect(page.locator("#how-many")).to_have_text("2 selected")
    page.locator("#export-selected").click()
    expect(page.locator(".notice")).to_contain_text(f"2 of {len(lines)} failures")
    with page.expect_download() as download:
        page.locator("[data-file='findings.zip']").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert sum(n.endswith("_origin.png") for n in archive.namelist()) == 2
    page.goto(f"/runs/{name}/findings?order=sure")
    sure = run.confidences()
    shown = page.locator(".card").evaluate_all("cards => cards.map(card => card.dataset.finding)")
    assert shown == [str(k) for k in sorted(sure, key=lambda k: -sure[k])]
    page.get_by_role("link", name="does not count").click()
    expect(page.locator(".badge.yes")).to_have_count(0)


def narrow_down(page):
    """Open the part with the filters, which on a phone is one touch away."""
    page.wait_for_load_state("load")  # the page closes them on a phone, and not before
    if not page.locator("[name=most]").is_visible():
        page.locator(".refine > summary").click()


@in_both_ways
def test_filters_and_the_confusion_map_agree_with_the_store(person, bench, name, width, scheme):
    run = open_run(bench.runs / f"{name}-again")
    lines = run.index()
    page = person(width, scheme)
    page.goto(f"/runs/{run.name}/findings")
    narrow_down(page)
    cell = page.locator(".matrix a").first
    title = cell.get_attribute("title")
    count = int(title.rsplit(": ", 1)[1])
    cell.click()
    expect(page.locator("#found")).to_contain_text(f"{count} of {len(lines)} failures shown")
    expect(page.locator(".card")).to_have_count(count)
    for heading in page.locator(".card h3").all_inner_texts():
        assert heading == title.rsplit(": ", 1)[0]
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_role("link", name="Show all")).to_have_count(0)  # the page before has filters to open too
    narrow_down(page)
    most = sorted(f.evaluations for f in lines)[len(lines) // 2]
    page.locator("[name=most]").fill(str(most))
    page.get_by_role("button", name="Filter").click()
    few = sum(f.evaluations <= most for f in lines)
    expect(page.locator("#found")).to_contain_text(f"{few} of {len(lines)} failures shown")
    in_all_looks(page)
    page.goto(f"/runs/{run.name}/findings?least=99999999")
    expect(page.locator("main")).to_contain_text("No failure passes these filters")
    in_all_looks(page)


@in_both_ways
def test_one_failure_with_its_way_and_its_command_by_keyboard(person, bench, name, width, scheme):
    run = open_run(bench.runs / name)
    page = person(width, scheme)
    page.goto(f"/runs/{name}/findings")
    finding = run.finding(Key.read(page.locator(".card").first.get_attribute("data-finding")))
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    focused = page.evaluate(
        "(n => [n.closest('main') !== null, getComputedStyle(n).outlineStyle])(document.activeElement)"
    )
    assert focused == [True, "solid"], "the skip link leads into the page, and the outline is drawn"
    page.locator(f".card[data-finding='{finding.key}'] h3 a").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text(
        f"{run.classes[finding.label]} taken for {run.classes[finding.predicted]}"
    )
    page.wait_for_load_state()
    picture = page.locator(".large img").first
    assert picture.evaluate("i => getComputedStyle(i).imageRendering") == DRAWN[name]
    assert picture.evaluate("i => i.clientWidth > 4 * i.naturalWidth")
    expect(page.locator("pre")).to_contain_text(f" {finding.key}")
    slider, text = page.locator("#way-step"), page.locator("#way-text")
    expect(slider).to_be_enabled(timeout=SLOW)
    expect(text).to_contain_text(f"0 % of the way: taken for {run.classes[finding.label]}")
    before = page.locator("#way-picture").evaluate("c => c.toDataURL()")
    slider.press("End")
    expect(text).to_contain_text(f"100 % of the way: taken for {run.classes[finding.predicted]}")
    assert page.locator("#way-picture").evaluate("c => c.toDataURL()") != before
    slider.blur()
    first_address = page.url
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pages")).to_contain_text("2 of")
    page.wait_for_load_state("load")  # the page listens to keys from then on
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(first_address)


@in_both_ways
def test_runs_side_by_side_in_pictures(person, bench, name, width, scheme):
    page, both = person(width, scheme), (name, f"{name}-again")
    page.goto("/compare")
    expect(page.locator("main")).to_contain_text("Tick at least two runs")
    for one in both:
        page.get_by_label(one, exact=True).check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".columns thead")).to_contain_text(both[1])
    expect(page.locator("main")).to_contain_text("shared starting images")
    expect(page.locator(".chart polyline")).to_have_count(2)
    one = page.locator(".one").first
    expect(one.locator("img")).to_have_count(3)
    attempt = int(one.get_attribute("data-attempt"))
    for run in both:
        finding = open_run(bench.runs / run).finding(attempt)
        expect(one.locator(f"a[href^='/runs/{run}/']")).to_have_attribute("href", f"/runs/{run}/findings/{finding.key}")
    in_all_looks(page)
    page.set_viewport_size({"width": 400, "height": 860})
    boxes = [cell.bounding_box() for cell in page.locator(".columns tbody tr").nth(3).locator("td").all()]
    assert len(boxes) == 2 and all(b["x"] >= 0 and b["x"] + b["width"] <= 400 for b in boxes), "both are in sight"


@in_both_ways
def test_exports_hold_what_the_run_holds(person, bench, name, width, scheme):
    run = open_run(bench.runs / name)
    findings = list(run.findings())
    page = person(width, scheme)
    page.goto(f"/runs/{name}/export")
    in_all_looks(page)

    def fetched(file):
        with page.expect_download() as download:
            page.locator(f"[data-file='{file}']").click()
        return download.value.path().read_bytes()

    with zipfile.ZipFile(io.BytesIO(fetched("findings.zip"))) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        assert sum(n.endswith("_origin.png") for n in names) == len(findings)
        assert all(re.search(r"_expected-\w+_predicted-\w+_evaluations-\d+", n) for n in names if n.endswith(".png"))
        assert {"findings.csv", "manifest.json"} <= set(names)
    with zipfile.ZipFile(io.BytesIO(fetched("tree.zip"))) as archive:
        images = [n for n in archive.namelist() if n.endswith(".png")]
        said = read_answers(run.layout)
        assert len(images) == sum(counts(finding, said) for finding in findings), (
            "people's word stands over the judge's"
        )
        assert set(run.classes) <= {n.split("/")[0] for n in archive.namelist()}, "every class has its folder"
    assert json.loads(fetched("summary.json"))["metrics"]["confirmed"] == len(findings)
    assert b"run report" in fetched("report.html")
    assert f'name = "{name}"'.encode() in fetched("recipe.toml")
