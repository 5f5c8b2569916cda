"""Readers: what is fed to a recogniser, how characters become classes, and what happens where none is installed."""

import numpy as np
import pytest
import torch

from foible.errors import MissingExtra, RecipeError
from foible.validators.readers import Reading, available, missing, reader
from foible.validators.readers.ocr import FEW, LEAST, Sixth, drawn_like, shown
from foible.validators.readers.reader import package_file

OCR = ("ppocr-v6", "ppocr-v5")
DIGITS = tuple("0123456789")


def bar():
    """A light stroke on dark, as in a drawn 1."""
    image = torch.zeros(1, 1, 28, 28)
    image[:, :, 4:24, 13:16] = 1
    return image


def test_a_drawing_becomes_ink_on_paper_and_a_photograph_stays():
    picture = shown(bar())
    assert picture.shape == (1, 3, 48, 48)
    assert picture[0, :, 0, 0].tolist() == [1, 1, 1] and picture[0, 0, 24, 24] == pytest.approx(-1, abs=0.05)
    assert shown(1 - bar())[0, 0, 0, 0] == 1, "ink on paper already"
    photograph = torch.full((1, 3, 32, 32), 0.25)
    assert torch.allclose(shown(photograph), torch.full((1, 3, 48, 48), -0.5), atol=1e-5)


def test_a_class_is_seen_by_all_characters_drawn_like_it():
    assert set(drawn_like("5")) == set("5sS") and set(drawn_like("A")) == set("Aa") and set(drawn_like("7")) == {"7"}
    assert set(drawn_like("S")) == set("Ss5") and set(drawn_like("B")) == set("Bb86"), "a letter may look like a digit"


def test_a_reading_is_taken_as_it_is():
    seen = torch.tensor([[0.9, 0.0, 0.95], [0.02, 0.03, 0.05]])  # two classes, and any character at all
    said = Sixth.read(None, seen, {})
    assert isinstance(said, Reading)
    assert said.names.tolist() == [0, -1], "below one in ten it names nothing"
    ratio = (said.classes[0, 0] - said.classes[0, 1]).exp().item()
    assert ratio == pytest.approx((0.9 + LEAST) / LEAST)
    assert said.sees.exp().tolist() == pytest.approx([0.9, 0.03]) and said.anything.exp()[1] == pytest.approx(0.05)


def test_an_unknown_reader_is_named():
    with pytest.raises(RecipeError, match="ppocr-v6"):
        reader("ppocr-v66", DIGITS)
    assert missing(("nobody",)) == ("nobody",) and available(("nobody",)) == ()


def test_a_missing_package_says_what_to_install():
    with pytest.raises(MissingExtra, match=r"foible\[judge\]"):
        package_file("no_such_package_of_weights", "model.onnx", "a reader")


@pytest.mark.parametrize("key", OCR)
def test_a_recogniser_reads_a_printed_digit_alone_as_in_company(key):
    if missing((key,)):
        pytest.skip("the extra 'judge' is not installed")
    from PIL import Image, ImageDraw, ImageFont

    pictures = []
    for digit in "2479":
        canvas = Image.new("L", (28, 28))
        ImageDraw.Draw(canvas).text((8, 1), digit, fill=255, font=ImageFont.load_default(24))
        pictures.append(torch.from_numpy(np.array(canvas))[None] / 255)
    images = torch.stack(pictures).float()
    read = reader(key, DIGITS)
    together = read.look(images)
    said = read.read(together, {})
    assert said.classes.argmax(1).tolist() == [2, 4, 7, 9] and said.names.tolist() == [2, 4, 7, 9]
    assert torch.equal(together[1:2], read.look(images[1:2])), "neighbours change nothing"
    many = images.repeat(FEW // 2, 1, 1, 1)[: FEW + 1]
    assert torch.equal(read.look(many), together.repeat(FEW // 2, 1)[: FEW + 1]), "nor does the last one left alone"
    with pytest.raises(RecipeError, match="knows none"):
        type(read)(("0", ""))
