"""Images made by anyone come in many forms; each is read, or named with what is wrong."""

import numpy as np
import pytest
import torch
from PIL import Image

from foible.domains import load_domain
from foible.errors import DataError
from foible.images import png_bytes
from foible.judging.arrays import as_images
from foible.judging.files import FileVerdict, write_verdicts
from foible.judging.labels import read_labels
from foible.judging.sources import Submitted, ahead, in_batches, submitted

MNIST, CIFAR = load_domain("mnist"), load_domain("cifar10")


@pytest.mark.parametrize(
    ("shape", "domain"),
    [
        ((5, 1, 28, 28), MNIST),
        ((5, 28, 28), MNIST),
        ((5, 28, 28, 1), MNIST),
        ((5, 32, 32, 3), CIFAR),
        ((5, 3, 32, 32), CIFAR),
    ],
)
def test_arrays_of_any_order_become_images(shape, domain):
    images = as_images(np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8), domain.shape)
    assert images.shape == (5, *domain.shape) and images.dtype == torch.float32 and images.max() <= 1


@pytest.mark.parametrize("shape", [(1, 28, 28), (28, 28), (28, 28, 1)])
def test_a_single_image_is_a_batch_of_one(shape):
    assert as_images(np.zeros(shape, dtype=np.float64), MNIST.shape).shape == (1, 1, 28, 28)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((2, 9, 9)), "shape"),
        (np.full((1, 28, 28), 255.0), "scale them"),
        (np.full((1, 28, 28), -1.0), "scale them"),
        (np.full((1, 28, 28), np.nan), "NaN"),
    ],
)
def test_what_is_no_image_is_said_so(values, words):
    with pytest.raises(DataError) as error:
        as_images(values, MNIST.shape)
    assert words in error.value.message + error.value.hint


def picture(path, size=(28, 28), mode="L"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, 0).save(path)


def test_a_tree_tells_the_classes_and_a_flat_folder_does_not(tmp_path):
    picture(tmp_path / "tree" / "7" / "a.png")
    picture(tmp_path / "tree" / "other" / "b.png")
    picture(tmp_path / "tree" / "c.jpg", mode="RGB", size=(64, 40))
    picture(tmp_path / "tree" / ".hidden" / "d.png")
    np.save(tmp_path / "tree" / "two.npy", np.zeros((2, 28, 28), dtype=np.uint8))
    parts = list(submitted(tmp_path / "tree", MNIST))
    named = {name: e for p in parts for name, e in zip(p.names, p.expected, strict=True)}
    assert named == {"7/a.png": 7, "other/b.png": None, "c.jpg": None, "two.npy#0": None, "two.npy#1": None}
    assert all(p.images.shape[1:] == (1, 28, 28) for p in parts)


def test_an_npz_with_labels(tmp_path):
    np.savez(tmp_path / "set.npz", x=np.zeros((3, 28, 28), dtype=np.uint8), y=np.array([1, 2, 3]))
    (part,) = submitted(tmp_path / "set.npz", MNIST)
    assert part.names == ("set.npz#0", "set.npz#1", "set.npz#2") and part.expected == (1, 2, 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: p.mkdir(),
        lambda p: None,
        lambda p: p.with_suffix(".npz").write_bytes(b"no zip"),
        lambda p: np.savez(p.with_suffix(".npz"), z=np.zeros(3)),
        lambda p: np.savez(p.with_suffix(".npz"), x=np.zeros((2, 28, 28)), y=np.zeros(3, dtype=int)),
        lambda p: np.save(p.with_suffix(".npy"), np.array(["text"])),
        lambda p: np.save(p.with_suffix(".npy"), np.array([{"a": 1}]), allow_pickle=True),
        lambda p: p.with_suffix(".png").write_bytes(b"\x89PNG broken"),
    ],
    ids=[
        "empty folder",
        "nothing",
        "damaged npz",
        "npz without images",
        "labels too many",
        "text",
        "pickle",
        "damaged png",
    ],
)
def test_bad_sources_are_named(tmp_path, make):
    path = tmp_path / "source"
    make(path)
    path = next((p for s in (".npz", ".npy", ".png") if (p := path.with_suffix(s)).exists()), path)
    with pytest.raises(DataError) as error:
        list(submitted(path, MNIST))
    assert path.name in error.value.message and error.value.hint


def test_labels_by_number_and_name(tmp_path):
    csv = tmp_path / "labels.csv"
    csv.write_text("\ufefffile,expected,more\na.png,ship,1\nb/c.png, 3 ,\n", encoding="utf-8")
    assert read_labels(csv, CIFAR) == {"a.png": 8, "b/c.png": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,label\na,1\n", "file,expected"),
        ("", "file,expected"),
        ("file,expected\na.png,shap\n", "line 2"),
        ("file,expected\na.png,1\na.png,2\n", "twice"),
        ("file,expected\na.png\n", "line 2"),
    ],
)
def test_bad_labels_are_named(tmp_path, text, words):
    csv = tmp_path / "labels.csv"
    csv.write_text(text)
    with pytest.raises(DataError) as error:
        read_labels(csv, CIFAR)
    assert words in error.value.message + error.value.hint


def test_an_error_in_the_middle_leaves_the_old_result(tmp_path):
    out = tmp_path / "verdicts.csv"
    out.write_text("old")

    def broken():
        yield FileVerdict("a", None, True, 0.9, 1, "1", None, None, 0.1, "")
        raise DataError("the second image is broken")

    with pytest.raises(DataError):
        write_verdicts(out, broken())
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


def test_one_bad_image_does_not_end_the_others(tmp_path):
    (tmp_path / "good.png").write_bytes(png_bytes(torch.zeros(1, 28, 28)))
    (tmp_path / "bad.png").write_bytes(b"no picture")
    damaged = []
    read = list(submitted(tmp_path, load_domain("mnist"), damaged))
    assert [part.names for part in read] == [("good.png",)] and "bad.png" in damaged[0]
    with pytest.raises(DataError, match=r"bad\.png"):
        list(submitted(tmp_path, load_domain("mnist")))


@pytest.mark.parametrize("lengths", [[1] * 7, [7], [2, 5], [3, 3, 1]])
def test_files_and_arrays_come_in_batches_of_one_size(lengths):
    numbers = iter(range(7))
    parts = []
    for length in lengths:
        mine = [next(numbers) for _ in range(length)]
        parts.append(Submitted(tuple(map(str, mine)), torch.tensor(mine).float().view(-1, 1, 1, 1), tuple(mine)))
    batches = list(ahead(in_batches(parts, 3)))
    assert [len(b.names) for b in batches] == [3, 3, 1]
    assert [label for b in batches for label in b.expected] == list(range(7))
    assert [name for b in batches for name in b.names] == [str(int(v)) for b in batches for v in b.images]
