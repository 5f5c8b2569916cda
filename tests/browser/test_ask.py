"""The other questions, asked as a user would: borders, two models, a test set, images to judge; and the list of runs."""

import io
import zipfile

import pytest
from PIL import Image
from playwright.sync_api import expect

from foible.domains import load_domain, real_images
from foible.images import to_bytes
from foible.store import open_run

from .conftest import SLOW, in_all_looks


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """An archive of real digits, one folder per class."""
    real = real_images(load_domain("mnist"), "sample")
    path = tmp_path_factory.mktemp("mine") / "my-digits.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for row in range(12):
            picture = io.BytesIO()
            Image.fromarray(to_bytes(real.images(real.labels.new_tensor([row])))[0, 0]).save(picture, "PNG")
            archive.writestr(f"{int(real.labels[row])}/{row}.png", picture.getvalue())
    return path


def test_four_questions_are_asked_and_answered(person, bench, digits):
    page = person()
    for title, name in (("Where are its borders?", "borders-here"), ("What changed", "changes-here")):
        page.goto("/")
        page.get_by_role("link", name=title).click()
        page.locator("#f-classifier").select_option("mnist-lenet1")
        if name == "changes-here":
            page.locator("#f-rival").select_option("variant:int8")
        page.get_by_text("More: generator").click()
        for field, value in {"attempts": 4, "evaluations": 200, "name": name}.items():
            page.locator(f"[name={field}]").fill(str(value))
        expect(page.locator("#panel .cost b")).to_be_visible(timeout=SLOW)
        page.locator("#panel button.primary").click()
        page.wait_for_url(f"**/runs/{name}")
    page.set_viewport_size({"width": 400, "height": 860})
    for title, model in (("Which of these images count?", ""), ("What has my test set", "mnist-lenet1")):
        page.goto("/")
        page.get_by_role("link", name=title).click()
        page.locator("#file-images").set_input_files(digits)
        expect(page.locator("#images-status")).to_have_text("my-digits.zip is here.", timeout=SLOW)
        if model:
            page.locator("#f-classifier").select_option(model)
            page.get_by_text("More: which criteria").click()
            page.locator("[name=criteria][value=nc]").check()
        else:
            page.locator(".chip", has_text="MNIST)").last.click()
        page.locator("button.primary").click()
        page.wait_for_url("**/studies/*")
    expect(page.locator(".figure").nth(1)).to_contain_text("12images in the set", timeout=SLOW)
    assert "never stood out" in page.locator(".figure").first.inner_text()
    in_all_looks(page)
    page.goto("/studies/my-digits-judged")
    expect(page.locator(".figure").first).to_contain_text("of 12", timeout=SLOW)
    expect(page.locator(".card img")).to_have_count(12)
    in_all_looks(page)
    for name in ("borders-here", "changes-here"):
        page.goto(f"/runs/{name}")
        expect(page.locator(".progress .state")).to_have_text("complete", timeout=SLOW)
    expect(page.locator("#studied")).to_contain_text("disagree")
    recipe = open_run(bench.runs / "borders-here").manifest.recipe
    assert recipe["search"]["use"] == "shrink" and len(recipe["targets"]) == 10
    assert "rival" in open_run(bench.runs / "changes-here").manifest.recipe["classifiers"]


def test_the_list_of_runs_is_searched_annotated_repeated_and_cleared(person, bench):
    page = person()
    page.goto("/runs")
    row = page.locator("[data-run=toy-narrow]")
    expect(row).to_contain_text("took")
    row.get_by_text("More").click()
    row.get_by_label("Title").fill("Mine")
    row.get_by_label("Notes").fill("worth a second look")
    in_all_looks(page)
    row.get_by_role("button", name="Save").click()
    page.get_by_label("search the runs").fill("second look")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[data-run]")).to_have_count(1)
    expect(page.locator("[data-run=toy-narrow] h3")).to_have_text("Mine")
    page.goto("/runs")
    page.locator("[data-run=digits]").get_by_text("More").click()
    page.locator("[data-run=digits]").get_by_role("link", name="Same again with changes").click()
    assert page.locator("[name=search]").input_value() == "descent"
    assert page.locator("[name=attempts]").input_value() == "6"
    (bench.runs / "spare").mkdir()
    (bench.runs / "spare" / "recipe.toml").write_text("")
    page.goto("/runs")
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("[data-run=spare]").get_by_text("More").click()
    page.locator("[data-run=spare]").get_by_role("button", name="Delete").click()
    expect(page.locator("[data-run=toy-wide]")).to_be_visible()
    expect(page.locator("[data-run=spare]")).to_have_count(0)
    assert not (bench.runs / "spare").exists()
