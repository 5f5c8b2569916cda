"""One set of words on every page and in the report, and what counts comes first wherever failures are shown."""

import re
from html import unescape

from foible.domains import load_domain
from foible.report import plain_summary, render_page, summarise
from foible.store import open_run
from foible.testing.runs import BUDGET, Story, write_run

MIXED = [
    Story(True, 10, False),
    Story(True, 20, True),
    Story(False, BUDGET),
    Story(True, 30, False),
    Story(True, 9, True),
]


def words_of(page):
    """What a reader sees of a page."""
    text = re.sub(r"(?s)<(script|style|pre)\b.*?</\1>|[\w/-]+\.png", " ", page)
    return " ".join(unescape(re.sub(r"(?s)<[^>]*>", " ", text)).split())


def test_a_search_begins_from_a_starting_image_everywhere(visit, runs):
    write_run(runs / "judged", MIXED)
    key = open_run(runs / "toy").index()[0].key
    pages = {
        path: visit().get(path).text
        for path in ("/", "/runs", "/compare?run=toy&run=judged", "/ask/judging", "/ask/coverage")
    }
    pages |= {
        f"{name}{part}": visit().get(f"/runs/{name}{part}").text
        for name in ("toy", "judged")
        for part in ("", "/findings", "/people", "/people/results", "/export")
    }
    pages["finding"] = visit().get(f"/runs/toy/findings/{key}").text
    run = open_run(runs / "judged")
    pages |= {"report": render_page(run), "summary": plain_summary(summarise(run))}
    for path, page in pages.items():
        assert "origin" not in words_of(page).replace("called origin in recipes", "").lower(), path
    for path in ("judged", "report", "summary"):
        assert "starting image" in pages[path], path
    for page in (pages["report"], visit().get("/setup").text):
        assert "<i>origin</i>" in page, "said once what methods and recipes call it"


def test_failures_that_count_come_first(visit, runs):
    run = write_run(runs / "judged", MIXED)
    shown = re.findall(r'data-finding="(\d+)"', visit().get("/runs/judged/findings").text)
    assert shown == ["1", "4", "0", "3"]
    assert re.findall(r'data-finding="(\d+)"', visit().get("/runs/judged/findings?order=attempt").text) == list("0134")
    report = render_page(run)
    assert [int(k) for k in re.findall(r"foible replay \S+ (\d+)</code>", report)] == [4, 1, 0, 3], (
        "spread over class pairs"
    )
    badges = re.findall(r'<p class="badge( yes)?">(counts|does not count)</p>', report)
    assert badges == [(" yes", "counts")] * 2 + [("", "does not count")] * 2


def test_runs_side_by_side_show_first_where_failures_count(visit, runs):
    write_run(runs / "judged", MIXED)
    write_run(runs / "other", MIXED, search={"use": "descent", "steady": False})
    page = visit().get("/compare?run=judged&run=other").text
    assert re.findall(r'data-attempt="(\d+)"', page) == ["1", "4", "0", "3"]
    assert "steady no" in page and "False" not in page


def test_a_run_is_described_in_words(visit, runs):
    write_run(runs / "other", MIXED, generator={"use": "my-vae"}, classifier={"use": "my-net"})
    page = visit().get("/runs").text
    assert "my-net, images from my-vae" in page


def test_a_run_that_was_stopped_claims_nothing_about_the_rest(visit, runs):
    held = [Story(False, BUDGET), Story(False, BUDGET)]
    run = write_run(runs / "stopped", held, state="interrupted", attempts=30)
    for text in (visit().get("/runs/stopped").text, render_page(run), plain_summary(summarise(run))):
        said = words_of(text)
        assert "2 of 30" in said or "of 30 planned" in said
        assert "withstand" not in said and "search has begun" not in said


def test_no_card_says_two_things_under_one_word(visit, runs):
    run = write_run(runs / "judged", MIXED)
    for page in (render_page(run), visit().get("/runs/judged/findings").text):
        lists = re.findall(r"(?s)<dl.*?</dl>", page)
        assert lists
        for one in lists:
            titles = re.findall(r"<dt>(.*?)</dt>", one)
            assert len(titles) == len(set(titles)), titles


def test_a_strip_of_pictures_has_its_class_names_below(visit):
    page = visit().get("/setup?domain=cifar10").text
    [strip] = re.findall(r'(?s)<figure class="strip-figure" data-domain="cifar10">.*?</figure>', page)
    made = page[page.index('alt="images made by cifar10-gan"') :]
    for part in (strip, made[: made.index("</label>")]):
        assert re.findall(r"<li[^>]*>(.*?)</li>", part) == list(load_domain("cifar10").classes)
