"""Setting up a run, watching it, reloading in the middle, stopping it and going on."""

import os
import signal
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from foible.store import open_run
from foible.store.layout import Layout
from foible.ui.jobs import process_of

from .conftest import SLOW, ZOO, first_paint, in_all_looks, in_both_ways, processor_seconds, slowness

QUICK = {"attempts": 6, "evaluations": 600, "baseline": 2}
LONG = {"attempts": 40, "evaluations": 100_000, "baseline": 0}
NOTED = """window.told = []; window.Notification = class { constructor(title) { told.push(title); }
    static permission = "granted"; static requestPermission() { return Promise.resolve("granted"); } };"""
DOMAINS = {name: models["domain"] for name, models in ZOO.items()}


def fill(page, name, extent, numbers, domain="mnist"):
    """Fill in the form as a person would."""
    page.goto("/")
    page.get_by_role("link", name="Where does my model fail?").click()
    page.locator(".chip", has_text={"mnist": "MNIST)", "cifar10": "CIFAR-10"}[domain]).last.click()
    page.get_by_text("More: generator").click()
    if domain == "cifar10":
        page.locator("[name=generator][value=cifar10-gan]").check()
    for field, value in numbers.items():
        page.locator(f"[name={field}]").fill(str(value))
    page.locator("[name=search]").select_option("genetic")
    page.locator("[name='search.genetic.extent']").fill(str(extent))
    page.locator("[name=name]").fill(name)


def start(page):
    expect(page.locator("#panel .cost b")).to_contain_text("if no search ends early", timeout=SLOW)
    page.get_by_role("button", name="Find failures").click()


def state(page):
    return page.locator(".progress .state")


@pytest.fixture
def stopped_in_the_end(bench):
    yield
    for folder in bench.runs.iterdir():
        process = process_of(Layout(folder))
        if process:
            os.kill(process, signal.SIGTERM)


@pytest.mark.parametrize(
    ("domain", "width", "scheme", "extent"), [("mnist", 1280, "light", 0.008), ("cifar10", 400, "dark", 0.05)]
)
def test_a_run_from_the_question_to_its_failures(person, bench, domain, width, scheme, extent):
    page, name = person(width, scheme), f"browser-{domain}"
    fill(page, name, extent, QUICK, domain)
    expect(page.locator("#probe")).to_contain_text("is right on", timeout=SLOW)
    page.get_by_text("Recipe and command").click()
    models = {"mnist": "mnist-deepconv --domain mnist --generator mnist-vae", "cifar10": "cifar10-vgg --domain cifar10"}
    expect(page.locator("#command")).to_contain_text(f"foible test {models[domain]}")
    expect(page.locator("#recipe-text")).to_contain_text(f"extent = {extent}")
    if domain == "mnist":
        with page.expect_download() as download:
            page.get_by_role("link", name="Recipe file").click()
        assert "attempts = 6" in download.value.path().read_text()
    start(page)
    page.wait_for_url(f"**/runs/{name}")
    expect(state(page)).to_have_text("complete", timeout=SLOW)
    found = len(list(open_run(bench.runs / name).findings()))
    assert found > 0
    expect(page.locator(".card")).to_have_count(min(found, 8), timeout=SLOW)
    expect(page.locator(".figure").first).to_contain_text("count")
    expect(page.locator("[data-part=facts]")).to_contain_text("took")
    assert "(complete)" in page.title(), "whoever looks at the tab is told"
    in_all_looks(page)


@in_both_ways
def test_impossible_settings_cannot_be_started_and_say_why(person, name, width, scheme):
    page = person(width, scheme)
    page.goto(f"/setup?domain={DOMAINS[name]}&generator={ZOO[name]['generator']}")
    page.get_by_text("More: generator").click()
    page.locator("[name=search]").select_option("genetic")
    survivors = page.locator("[name='search.genetic.survivors']")
    survivors.fill("25")
    expect(page.locator(".problem")).to_contain_text("cannot breed", timeout=SLOW)
    expect(page.locator(".problem")).to_contain_text("fewer than the population", timeout=SLOW)
    expect(page.get_by_role("button", name="Find failures")).to_be_disabled(timeout=SLOW)
    expect(survivors).to_have_attribute("aria-invalid", "true", timeout=SLOW)
    survivors.fill("10")
    page.locator("[name=evaluations]").fill("10")
    expect(page.locator(".problem")).to_contain_text("the first round alone asks for 25 evaluations", timeout=SLOW)
    page.locator("[name=evaluations]").fill("3760")
    page.locator("[name=name]").fill("../elsewhere")
    expect(page.locator(".problem")).to_contain_text("cannot be the name of a run", timeout=SLOW)
    page.locator("[name=name]").fill("")
    expect(page.get_by_role("button", name="Find failures")).to_be_enabled(timeout=SLOW)
    page.locator("[name=attempts]").fill("0")
    expect(page.get_by_role("alert")).to_contain_text("starting images")
    expect(page.locator("[name=attempts]")).to_have_attribute("aria-invalid", "true")
    in_all_looks(page)


@in_both_ways
def test_a_recipe_is_picked_and_a_link_opens_the_same_set_up_again(person, name, width, scheme):
    page = person(width, scheme)
    page.goto("/setup")
    page.get_by_text("More: generator").click()
    page.locator("#recipe").select_option({"digits": "gift-mnist-vae-low", "photos": "gift-cifar10-gan-low"}[name])
    page.get_by_role("button", name="Fill in").click()
    page.locator("[name=seed]").fill("7")
    page.get_by_text("Recipe and command").click()
    expect(page.locator("#recipe-text")).to_contain_text("seed = 7", timeout=SLOW)
    link = page.get_by_role("link", name="Link to this set-up").get_attribute("href")
    page.goto(link)
    expect(page.locator("[name=seed]")).to_have_value("7")
    expect(page.locator(f"[name=generator][value={ZOO[name]['generator']}]")).to_be_checked()
    expect(page.locator("[name='search.genetic.extent']")).to_have_value("low")
    expect(page.locator("[name='search.genetic.compat']")).to_have_value("yes")
    expect(page.locator("[name='recipe.ends']")).to_have_value("first")


@in_both_ways
def test_each_search_shows_its_own_parameters_and_keeps_their_values(person, name, width, scheme):
    page = person(width, scheme)
    page.goto(f"/setup?domain={DOMAINS[name]}&generator={ZOO[name]['generator']}")
    page.get_by_text("More: generator").click()
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
    expect(page.locator("#recipe-text")).to_contain_text("batch = 7", timeout=SLOW)
    expect(page.locator("#recipe-text")).not_to_contain_text("low", timeout=SLOW)
    search.select_option("genetic")
    expect(page.locator("#recipe-text")).to_contain_text('extent = "low"', timeout=SLOW)
    expect(page.locator("#recipe-text")).not_to_contain_text("batch", timeout=SLOW)


@in_both_ways
def test_a_long_run_is_watched_reloaded_stopped_taken_up_and_killed(
    person, bench, stopped_in_the_end, name, width, scheme
):
    page, run = person(width, scheme), f"long-{name}"
    page.add_init_script(NOTED)
    layout = Layout(bench.runs / run)
    fill(page, run, 1e-6, LONG, DOMAINS[name])
    start(page)
    page.wait_for_url(f"**/runs/{run}")
    expect(page.locator("#status")).to_contain_text("evaluations/s", timeout=SLOW)
    expect(page.locator("#status")).to_contain_text("left")
    news_every_second(page, bench)
    page.get_by_role("button", name="Tell me when it is done").click()
    expect(page.locator("#tell-me")).to_have_text("You will be told")
    in_all_looks(page)
    process = process_of(layout)
    page.reload()
    expect(state(page)).to_have_text("running")
    expect(page.locator("#tell-me")).to_have_text("You will be told")
    other = person(width, scheme)
    other.goto("/runs")
    row = other.locator(f"[data-run={run}]")
    expect(row.locator(".state")).to_have_text("running")
    expect(row.get_by_role("progressbar")).to_be_visible()
    expect(row).to_contain_text("left")
    paints = []
    for _ in range(3):
        other.goto("/runs/toy-wide/findings")
        paints.append(first_paint(other))
    assert sorted(paints)[1] < 500 * slowness(), "pages come quickly while the cores are busy"
    other.goto(f"/runs/{run}")
    assert process_of(layout) == process, "the run is the same process, whoever looks"
    page.get_by_role("button", name="Stop").click()
    expect(state(page)).to_have_text("interrupted", timeout=SLOW)
    assert page.evaluate("window.told") == ["foible: interrupted"]
    assert open_run(bench.runs / run).state == "interrupted"
    expect(state(other)).to_have_text("interrupted", timeout=SLOW)
    page.get_by_role("button", name="Go on").click()
    for tab in (page, other):
        expect(state(tab)).to_have_text("running", timeout=SLOW)
    other.context.close()
    again = process_of(layout)
    assert again not in (None, process)
    os.kill(again, signal.SIGKILL)
    expect(state(page)).to_have_text("broken off", timeout=SLOW)
    expect(page.get_by_role("button", name="Go on")).to_be_visible()


def news_every_second(page, bench, seconds=5):
    """Updates come at least every second, bring news, and leave the cores to the run."""
    before = processor_seconds(bench.process)
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
