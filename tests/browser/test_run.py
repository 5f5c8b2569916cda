"""Setting up a run, watching it, reloading in the middle, stopping it and going on."""

import os
import re
import signal
import time
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from foible.store import open_run
from foible.store.layout import Layout
from foible.ui.jobs import process_of

from .conftest import SLOW, processor_seconds, quickest_paint, slowness

QUICK = {"attempts": 6, "evaluations": 600, "baseline": 2}
LONG = {"attempts": 40, "evaluations": 100_000, "baseline": 0}


def fill(page, name, extent, numbers):
    """Fill in the form as a person would."""
    page.goto("/setup")
    page.get_by_text("More settings").click()
    for field, value in numbers.items():
        page.locator(f"[name={field}]").fill(str(value))
    page.locator("[name=search]").select_option("genetic")
    page.locator("[name='search.genetic.extent']").fill(str(extent))
    page.locator("[name=name]").fill(name)


def start(page):
    expect(page.locator("#panel .cost b")).to_contain_text("if no search ends early", timeout=SLOW)
    page.get_by_role("button", name="Start the run").click()


def state(page):
    return page.locator(".progress .state")


@pytest.fixture
def stopped_in_the_end(bench):
    yield
    for folder in bench.runs.iterdir():
        process = process_of(Layout(folder))
        if process:
            os.kill(process, signal.SIGTERM)


def test_a_run_from_set_up_to_its_failures(person, bench):
    page = person()
    fill(page, "browser-quick", 0.008, QUICK)
    expect(page.locator("#probe")).to_contain_text("is right on", timeout=SLOW)
    page.get_by_text("Recipe and command").click()
    expect(page.locator("#command")).to_contain_text("foible test mnist-deepconv --domain mnist --generator mnist-vae")
    expect(page.locator("#panel")).to_contain_text("foible run browser-quick.toml --out runs/browser-quick")
    expect(page.locator("#recipe")).to_contain_text("extent = 0.008")
    with page.expect_download() as download:
        page.get_by_role("link", name="Recipe file").click()
    assert "attempts = 6" in download.value.path().read_text()
    start(page)
    page.wait_for_url("**/runs/browser-quick")
    expect(state(page)).to_have_text("complete", timeout=SLOW)
    found = len(list(open_run(bench.runs / "browser-quick").findings()))
    assert found > 0
    expect(page.locator(".card")).to_have_count(min(found, 8), timeout=SLOW)
    expect(page.locator(".stage.key .numbers")).to_contain_text(f"{found} of")


def test_impossible_settings_cannot_be_started_and_say_why(person):
    page = person()
    page.goto("/setup")
    page.get_by_text("More settings").click()
    page.locator("[name=search]").select_option("genetic")
    survivors = page.locator("[name='search.genetic.survivors']")
    survivors.fill("25")
    expect(page.locator(".problem")).to_contain_text("cannot breed", timeout=SLOW)
    expect(page.locator(".problem")).to_contain_text("fewer than the population", timeout=SLOW)
    expect(page.get_by_role("button", name="Start the run")).to_be_disabled(timeout=SLOW)
    expect(survivors).to_have_attribute("aria-invalid", "true", timeout=SLOW)
    survivors.fill("10")
    page.locator("[name=evaluations]").fill("10")
    expect(page.locator(".problem")).to_contain_text("the first round alone asks for 25 evaluations", timeout=SLOW)
    page.locator("[name=evaluations]").fill("3760")
    page.locator("[name=name]").fill("../elsewhere")
    expect(page.locator(".problem")).to_contain_text("cannot be the name of a run", timeout=SLOW)
    page.locator("[name=name]").fill("")
    expect(page.get_by_role("button", name="Start the run")).to_be_enabled(timeout=SLOW)


def test_a_link_opens_the_same_set_up_again(person):
    page = person()
    page.goto("/setup?recipe=gift-mnist-vae-low&seed=7")
    page.get_by_text("Recipe and command").click()
    link = page.get_by_role("link", name="Link to this set-up").get_attribute("href")
    page.goto(link)
    assert page.locator("[name=seed]").input_value() == "7"
    assert page.locator("[name='search.genetic.extent']").input_value() == "low"
    assert page.locator("[name='search.genetic.compat']").input_value() == "yes"
    assert page.locator("[name='recipe.ends']").input_value() == "first"


def test_each_search_shows_its_own_parameters_and_keeps_their_values(person):
    page = person()
    page.goto("/setup")
    search, batch = page.locator("[name=search]"), page.locator("[name='search.random.batch']")
    search.select_option("genetic")
    expect(batch).to_be_hidden()
    expect(page.locator("[name='search.genetic.population']")).to_be_visible()
    page.locator("[name='search.genetic.extent']").fill("low")
    search.select_option("random")
    expect(batch).to_be_visible()
    expect(page.locator("[name='search.genetic.population']")).to_be_hidden()
    batch.fill("7")
    page.get_by_text("Recipe and command").click()
    expect(page.locator("#recipe")).to_contain_text("batch = 7", timeout=SLOW)
    expect(page.locator("#recipe")).not_to_contain_text("low", timeout=SLOW)
    search.select_option("genetic")
    expect(page.locator("#recipe")).to_contain_text('extent = "low"', timeout=SLOW)
    expect(page.locator("#recipe")).not_to_contain_text("batch", timeout=SLOW)


def test_reload_second_tab_stop_go_on_and_a_crash(person, bench, stopped_in_the_end):
    page = person()
    fill(page, "browser-long", 1e-6, LONG)
    start(page)
    page.wait_for_url("**/runs/browser-long")
    expect(page.locator("#status")).to_contain_text("evaluations/s", timeout=SLOW)
    process = process_of(_layout(bench))
    page.reload()
    expect(state(page)).to_have_text("running")
    other = person()
    other.goto("/runs/browser-long")
    expect(state(other)).to_have_text("running")
    other.context.close()
    assert process_of(_layout(bench)) == process, "the run is the same process, whoever looks"
    page.get_by_role("button", name="Stop").click()
    expect(state(page)).to_have_text("interrupted", timeout=SLOW)
    assert open_run(bench.runs / "browser-long").state == "interrupted"
    page.get_by_role("button", name="Go on").click()
    expect(state(page)).to_have_text("running", timeout=SLOW)
    again = process_of(_layout(bench))
    assert again not in (None, process)
    os.kill(again, signal.SIGKILL)
    expect(state(page)).to_have_text("broken off", timeout=SLOW)
    expect(page.get_by_role("button", name="Go on")).to_be_visible()


def test_progress_comes_every_second_and_the_page_stays_usable(person, bench, stopped_in_the_end):
    page = person()
    fill(page, "browser-busy", 1e-6, LONG)
    start(page)
    page.wait_for_url("**/runs/browser-busy")
    expect(page.locator("#status")).to_contain_text("evaluations/s", timeout=SLOW)
    before, seconds = processor_seconds(bench.process), 10
    seen = page.evaluate(
        """seconds => new Promise(done => { const seen = [], live = document.getElementById("live");
        const look = () => seen.push([performance.now(), live.querySelector("#status").textContent]);
        new MutationObserver(look).observe(live, {attributes: true, attributeFilter: ["data-updated"]});
        setTimeout(() => done(seen), 1000 * seconds); })""",
        seconds,
    )
    spent = (processor_seconds(bench.process) - before) / len(seen)
    gaps = sorted(b - a for (a, _), (b, _) in pairwise(seen))
    print("milliseconds between updates:", [round(g) for g in gaps], f"at {spent:.3f} processor seconds each")
    assert gaps[len(gaps) // 2] < 1000 * slowness()
    assert len({text for _, text in seen}) > seconds / (2 * slowness()), "updates must bring news"
    assert spent < 0.15, "watching must leave the cores to the run"
    begin = time.monotonic()
    page.goto("/runs/toy-wide/findings")
    expect(page.locator(".card").first).to_be_visible()
    print(f"gallery while both cores are busy: {time.monotonic() - begin:.2f} s")
    assert process_of(Layout(bench.runs / "browser-busy")), "the run is still going"
    assert quickest_paint(page, "/runs/toy-wide/findings") < 2000 * slowness()
    page.goto("/runs/browser-busy")
    page.get_by_role("button", name="Stop").click()
    expect(state(page)).to_have_text(re.compile("interrupted|broken off"), timeout=SLOW)


def _layout(bench):
    return Layout(bench.runs / "browser-long")
