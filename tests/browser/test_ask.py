"""The other questions, asked as a user would: borders, two models, a test set, images to judge; and the list of runs."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from foible.domains import load_domain, real_images
from foible.errors import FoibleError
from foible.store import open_run

from .conftest import SLOW, in_all_looks, in_both_ways


@dataclass(frozen=True)
class Kind:
    """A kind of images, one of its models, and which chip of the form it is."""

    domain: str
    model: str
    chip: str


KINDS = {"digits": Kind("mnist", "mnist-lenet1", "MNIST)"), "photos": Kind("cifar10", "cifar10-teacher", "CIFAR-10")}


def archive_of(bench, name, path):
    """What a run began with and found, as an archive with one folder per class."""
    run = open_run(bench.runs / name)
    with zipfile.ZipFile(path, "w") as archive:
        for finding in run.findings():
            for image in (finding.image, finding.origin_image):
                archive.write(run.layout.folder / image, f"{run.classes[finding.label]}/{Path(image).name}")
        return len(archive.namelist())


@in_both_ways
def test_two_questions_with_a_search_are_asked_and_answered(person, bench, name, width, scheme):
    page, about = person(width, scheme), KINDS[name]
    runs = {"borders": "Where are its borders?", "changes": "What changed"}
    for question, title in runs.items():
        page.goto("/")
        page.get_by_role("link", name=title).click()
        page.wait_for_load_state("load")  # the page listens from then on
        page.locator("#f-classifier").select_option(about.model)
        expect(page.locator(f"[name=domain][value={about.domain}]")).to_be_checked()
        if question == "changes":
            page.locator("#f-rival").select_option("variant:int8")
        page.get_by_text("More: generator").click()
        page.get_by_text("Everything a recipe can say").click()
        few = {"attempts": 3, "evaluations": 100, "baseline": 0, "validators": "none", "name": f"{name}-{question}"}
        for field, value in few.items():
            page.locator(f"[name={field}]").fill(str(value))
        expect(page.locator("#panel .cost b")).to_be_visible(timeout=SLOW)
        in_all_looks(page)
        page.locator("#panel button.primary").click()
        page.wait_for_url(f"**/runs/{name}-{question}")
    for question in runs:
        page.goto(f"/runs/{name}-{question}")
        expect(page.locator(".progress .state")).to_have_text("complete", timeout=SLOW)
        in_all_looks(page)
    expect(page.locator("#studied")).to_contain_text("disagree")
    recipe = open_run(bench.runs / f"{name}-borders").manifest.recipe
    assert recipe["search"]["use"] == "shrink" and len(recipe["targets"]) == 10
    assert "rival" in open_run(bench.runs / f"{name}-changes").manifest.recipe["classifiers"]


@in_both_ways
def test_two_questions_about_images_are_asked_and_answered(person, bench, tmp_path, name, width, scheme):
    page, about, file = person(width, scheme), KINDS[name], tmp_path / f"my-{name}.zip"
    try:
        real_images(load_domain(about.domain))
    except FoibleError as missing:
        pytest.skip(f"a test set is measured beside the domain's own images: {missing}")
    count = archive_of(bench, name, file)
    for title in ("Which of these images count?", "What has my test set"):
        page.goto("/")
        page.get_by_role("link", name=title).click()
        page.wait_for_load_state("load")  # the page listens from then on
        page.locator("#file-images").set_input_files(file)
        expect(page.locator("#images-status")).to_have_text(f"{file.name} is here.", timeout=SLOW)
        page.locator(".chip", has_text=about.chip).last.click()
        if page.locator("#f-classifier").count():
            page.locator("#f-classifier").select_option(about.model)
            page.get_by_text("More: which criteria").click()
            page.locator("[name=criteria][value=nc]").check()
        in_all_looks(page)
        page.locator("button.primary").click()
        page.wait_for_url("**/studies/*")
    expect(page.locator(".figure").nth(1)).to_contain_text(f"{count}images in the set", timeout=SLOW)
    expect(page.locator(".figure").first).to_contain_text("never stood out")
    in_all_looks(page)
    page.goto(f"/studies/my-{name}-judged")
    expect(page.locator(".figure").first).to_contain_text(f"of {count}", timeout=SLOW)
    expect(page.locator(".card img")).to_have_count(count)
    in_all_looks(page)


@in_both_ways
def test_the_list_of_runs_is_searched_annotated_repeated_and_cleared(person, bench, name, width, scheme):
    page, other, spare = person(width, scheme), f"{name}-again", f"spare-{name}"
    page.goto("/runs")
    row = page.locator(f"[data-run={other}]")
    expect(row).to_contain_text("took")
    row.get_by_text("More").click()
    row.get_by_label("Title").fill("Mine")
    row.get_by_label("Notes").fill(f"worth a second look: {name}")
    in_all_looks(page)
    row.get_by_role("button", name="Save").click()
    page.get_by_label("search the runs").fill(f"second look {name}")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[data-run]")).to_have_count(1)
    expect(page.locator(f"[data-run={other}] h3")).to_have_text("Mine")
    page.goto("/runs")
    page.locator(f"[data-run={name}]").get_by_text("More").click()
    page.locator(f"[data-run={name}]").get_by_role("link", name="Same again with changes").click()
    expect(page.locator("[name=search]")).to_have_value("descent")
    expect(page.locator("[name=attempts]")).to_have_value("6")
    (bench.runs / spare).mkdir()
    (bench.runs / spare / "recipe.toml").write_text("")
    page.goto("/runs")
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator(f"[data-run={spare}]").get_by_text("More").click()
    page.locator(f"[data-run={spare}]").get_by_role("button", name="Delete").click()
    expect(page.locator("[data-run=toy-wide]")).to_be_visible()
    expect(page.locator(f"[data-run={spare}]")).to_have_count(0)
    assert not (bench.runs / spare).exists()
