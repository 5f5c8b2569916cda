"""The table of evidence, on images that can be checked with a pencil."""

from types import SimpleNamespace

import pytest
import torch

from foible.validators.evidence import EMBEDDED, LOUDEST, Evidence, Scale, Witnesses, columns
from foible.validators.judge import torn
from foible.validators.parts import Weighing, kept_score
from foible.validators.quality import Quality, qualities
from foible.validators.shapes import Shapes, outlines, set_upright
from foible.validators.words import AGAINST, Words


def stroke(lean=0.0, left=13):
    """A light line from top to bottom that moves sideways by `lean` of its height."""
    image = torch.zeros(1, 1, 28, 28)
    for row in range(4, 24):
        image[0, 0, row, round(left + lean * (row - 14))] = 1
    return image


def test_a_leaning_stroke_is_set_upright_in_the_middle():
    done = set_upright(stroke(lean=0.4, left=9))[0, 0]
    columns_lit = (done[6:22] > 0.3).nonzero()[:, 1]
    assert columns_lit.min() >= 12 and columns_lit.max() <= 15


def test_an_outline_does_not_depend_on_contrast_and_upside_down_is_another_one():
    image = torch.rand(1, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    plain, faint = outlines(image, False), outlines(image * 0.5, False)
    assert torch.allclose(plain, faint, atol=0.01)
    assert (plain - outlines(image.flip(2), False)).norm() > 1


def test_the_nearest_outline_is_at_distance_zero_from_itself():
    drawn = outlines(stroke(), True)
    shapes = Shapes(torch.zeros(drawn.shape[1]), torch.eye(drawn.shape[1]), drawn, torch.tensor(1.0))
    assert shapes(stroke()).item() == pytest.approx(0, abs=1e-3)
    assert shapes(stroke().transpose(2, 3)).item() < -0.5, "a line that lies down"


def test_quality_is_silent_among_good_images_and_speaks_beyond():
    generator = torch.Generator().manual_seed(0)
    good = torch.rand(400, 1, 12, 12, generator=generator) * 0.5
    quality = Quality.of(good)
    assert (quality(good) == 0).float().mean() > 0.97
    dark, bright_ground = quality(good[:5] * 0.02), quality(1 - good[:5])
    assert (dark[:, 0] < -3).all() and (bright_ground[:, 2] < -3).all() and (bright_ground[:, 0] == 0).all()
    smooth = torch.linspace(0, 0.5, 12).expand(1, 1, 12, 12)
    assert quality(smooth)[0, 1] < -3, "a slope has contrast and no edge"


def test_qualities_of_a_chessboard():
    board = ((torch.arange(8)[:, None] + torch.arange(8)) % 2).float().view(1, 1, 8, 8)
    contrast, sharpness, ground = qualities(board)[0].exp().tolist()
    assert contrast == pytest.approx(1.01) and sharpness == pytest.approx(1.002 / 1.01, rel=1e-3)
    assert ground in (pytest.approx(1.0), pytest.approx(2.718, rel=1e-3)), "the median of half zeros and half ones"


def contrasts(images):
    """A classifier that knows an image by how much its pixels differ."""
    return SimpleNamespace(logits=images.flatten(1).std(1)[:, None].expand(-1, 2))


def test_what_endures_is_still_known_when_fainter_and_more_blurred():
    coarse, fine = torch.zeros(1, 1, 16, 16), torch.zeros(1, 1, 16, 16)
    coarse[..., 8:], fine[..., ::2] = 1, 1
    others = [lambda images: pytest.fail("only the first looks again")] * 2
    looking = Witnesses(SimpleNamespace(members=[contrasts, *others]), None, None, None, None, {}, {}, True)
    kept, lost = looking._endures(torch.cat([coarse, fine])).tolist()
    assert kept == pytest.approx(0.69 + 0.5 * (0.25 + 0.48), abs=0.03), "half the contrast, and nearly all of it"
    assert lost == pytest.approx(0.69 + 0.5 * (0.25 + 0.1), abs=0.06), "stripes of one pixel are gone"


def test_no_column_is_louder_than_the_loudest():
    names = columns(("ppocr-v6",))
    assert names == (*EMBEDDED, "ppocr-v6 sees", "ppocr-v6 anything")
    scale = Scale.of(torch.randn(500, len(names), generator=torch.Generator().manual_seed(0)))
    far = scale(torch.full((1, len(names)), -1000.0), names)[0]
    assert far.min() == pytest.approx(-1.5 * LOUDEST) and far[0] == pytest.approx(-LOUDEST)
    assert scale(scale.middle[None], names)[0, 0] == 0


def test_log_probabilities_are_added_as_far_as_they_are_trusted():
    weighing = Weighing(torch.tensor([1.0, 2.0]), torch.tensor(-1.0), torch.tensor([1.0, 0.5]))
    assert weighing.validity(torch.tensor([[1.0, 0.0]])).item() == 0.5
    sources = torch.tensor([[[0.5, 0.5], [0.2, 0.8]]]).log()
    assert weighing.classes(sources)[0].tolist() == pytest.approx([1 / 3, 2 / 3]), "the root of 0.2 : 0.8"


def test_an_image_called_invalid_keeps_its_label_less():
    classes, labels = torch.tensor([[0.9, 0.1]] * 3), torch.tensor([0, 0, 1])
    assert kept_score(torch.tensor([0.8, 0.25, 0.5]), classes, labels).tolist() == pytest.approx([0.9, 0.45, 0.1])


def test_people_are_torn_between_two_equal_classes():
    assert torn(torch.tensor([[0.4, 0.4], [0.9, 0.0], [0.6, 0.2]])).tolist() == pytest.approx([1, 0, 0.75])


def words():
    names = columns(("ppocr-v6", "ppocr-v5"))
    return Words(tuple("0123456789"), 3, ("PP-OCRv6", "PP-OCRv5"), names), len(names)


def test_reasons_name_who_sees_what():
    said, width = words()
    seen = torch.tensor([[4, 4, 9, 4, 4], [7, 7, 7, 7, 7], [1, 2, 3, -1, 1]])
    evidence = Evidence(torch.zeros(3, width), torch.zeros(3, 3, 10), seen)
    first, second, third = said.of_labels(evidence, torch.tensor([9, 7, 1]), torch.tensor([True, True, False]))
    assert (
        first == "2 reference classifiers, PP-OCRv6 and PP-OCRv5 see '4', 1 reference classifier sees '9'; expected '9'"
    )
    assert second == "all see '7': all 3 reference classifiers, PP-OCRv6 and PP-OCRv5; expected '7'"
    assert "PP-OCRv6 sees nothing" in third and third.endswith("called invalid")


def test_reasons_name_the_weightiest_objections():
    said, width = words()
    table = torch.zeros(2, width)
    table[0, EMBEDDED.index("contrast")], table[0, EMBEDDED.index("energy")] = -6, -0.5
    table[1, len(EMBEDDED)], table[1, EMBEDDED.index("nearest")] = -4, -3
    evidence = Evidence(table, torch.zeros(2, 3, 10), torch.zeros(2, 5, dtype=torch.long))
    weighing = Weighing(torch.ones(width), torch.zeros(()), torch.ones(3))
    faint, unseen = said.of_images(evidence, weighing, torch.tensor([False, False]))
    assert faint == AGAINST["contrast"]
    assert unseen == f"PP-OCRv6 sees none of the classes clearly; {AGAINST['nearest']}"
    assert tuple(AGAINST) == EMBEDDED
