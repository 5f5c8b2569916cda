"""The page that shows what lies between two images, and between two classes."""

import pytest

from foible.store import open_run


def test_a_strip_between_a_failure_and_a_real_image_and_a_map(visit, runs):
    client, failure = visit(), open_run(runs / "toy").index()[0]
    named = [open_run(runs / "toy").classes[c] for c in (failure.label, failure.predicted)]
    assert "/runs/toy/between" in client.get("/runs/toy").text
    assert f"between?first={failure.key}" in client.get(f"/runs/toy/findings/{failure.key}").text
    empty = client.get("/runs/toy/between")
    assert empty.status_code == 200 and "data-drawn" not in empty.text
    strip = client.get("/runs/toy/between", params={"first": str(failure.key), "second": "right:1"})
    assert strip.text.count("<figure>") == 12 and "taken for" in strip.text, strip.text
    drawn = client.get("/runs/toy/between", params={"one": named[0], "other": named[1]})
    assert "<circle" in drawn.text and "principal components of bars" in drawn.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"first": "/etc/hostname", "second": "right:1"}, "names no failure"),
        ({"first": "99999", "second": "right:1"}, "99999"),
        ({"first": "left:0", "second": "rigth:1"}, "no class"),
        ({"first": "left:0", "second": "right:99"}, "has 4 images"),
        ({"first": "left:0", "second": "x" * 300}, "too long"),
        ({"one": "left", "other": "left"}, "two different classes"),
        ({"one": "left", "other": "<blink>"}, "no class"),
    ],
)
def test_what_is_no_image_and_no_pair_is_named(asked, words, visit):
    answer = visit().get("/runs/toy/between", params=asked)
    assert answer.status_code in {400, 404} and words in answer.text and "<blink>" not in answer.text
