"""People look at failures: blinded, by keyboard, with undo and skip; and how far they agree."""

from playwright.sync_api import expect

from foible.store import open_run
from foible.store.answers import read_answers
from foible.store.layout import Layout

from .conftest import in_all_looks, in_both_ways


@in_both_ways
def test_two_people_judge_with_the_keyboard_and_see_how_far_they_agree(person, bench, name, width, scheme):
    run = f"{name}-again"
    layout = Layout(bench.runs / run)
    total = len(open_run(layout.folder).index())
    for who, keys in (("first", "1"), ("second", "1x")):
        page = person(width, scheme)
        page.goto(f"/runs/{run}/people")
        page.get_by_label("Your name").fill(who)
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#count")).to_have_text(f"1 of {total}")
        if who == "first":
            page.keyboard.press("2")
            page.keyboard.press("Backspace")
            expect(page.locator("#count")).to_have_text(f"1 of {total}")
            page.keyboard.press("ArrowRight")  # skipped
            expect(page.locator("#count")).to_have_text(f"2 of {total}")
        for k in range(total - (who == "first")):
            page.keyboard.press(keys[k % len(keys)])
        expect(page.locator("#done")).to_be_visible()
        if who == "first":
            page.get_by_role("button", name="Look again at the 1 you skipped").click()
            page.keyboard.press(keys[0])
            expect(page.locator("#done")).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.goto(f"/runs/{run}/people")
    with page.expect_download() as download:  # to be mailed to others
        page.get_by_role("button", name="Make a survey").click()
    assert "What do you see?" in download.value.path().read_text()
    page.goto(f"/runs/{run}/people/results")
    expect(page.locator("#board")).to_contain_text(f"first and second, {total} shared images")
    expect(page.locator("#board")).to_contain_text("kappa")
    in_all_looks(page)
    answers = read_answers(layout)
    pressed = {"digits": 1, "photos": 0}[name]  # a digit is its own key
    assert set(answers.by_person["first"].values()) == {pressed} and len(answers.by_person["second"]) == total
    page.goto(f"/runs/{run}/findings?valid=yes")
    expect(page.locator(".card").first).to_be_visible()


@in_both_ways
def test_images_are_shown_at_their_own_size_and_nothing_says_what_is_expected(person, bench, name, width, scheme):
    run, side = open_run(bench.runs / name), {"digits": 28, "photos": 32}[name]
    page = person(width, scheme)
    page.goto(f"/runs/{name}/people")
    page.get_by_label("Your name").fill("Eve")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#choices button").first).to_be_visible()
    expect(page.locator("#natural")).to_have_js_property("naturalWidth", side)
    assert page.locator("#natural").evaluate("i => [i.clientWidth, i.naturalWidth]") == [side, side]
    drawn = {"digits": "pixelated", "photos": "auto"}[name]
    assert page.locator("#picture").evaluate("i => getComputedStyle(i).imageRendering") == drawn
    in_all_looks(page)
    shown = page.locator("main").inner_text()
    assert "taken for" not in shown and "expected" not in shown
    said = page.evaluate(f"fetch('/runs/{name}/people/questions?person=Eve').then(answer => answer.json())")
    assert len(said["items"]) == len(run.index()) and not said["answers"]
