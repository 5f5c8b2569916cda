from importlib.util import find_spec

import numpy as np
import pytest
import torch
from PIL import Image

from foible.domains import load_domain, real_images, where_images_are
from foible.domains.arrays import undo_differences
from foible.errors import DataError, RecipeError
from foible.images import rounded, to_bytes, to_images


def npz(path, images, labels, split="test"):
    np.savez(path, **{f"x_{split}": images, f"y_{split}": labels})
    return path


def test_the_embedded_sample_is_balanced_and_in_the_currency():
    domain = load_domain("mnist")
    data = real_images(domain, "sample")
    images = data.images(torch.arange(20))
    assert images.shape == (20, 1, 28, 28) and images.dtype == torch.float32
    assert float(images.min()) == 0 and float(images.max()) == 1
    assert torch.bincount(data.labels).tolist() == [100] * 10


def test_eight_bit_rounding_is_what_a_file_does():
    images = torch.tensor([[[[0.0, 0.5, 1.0, 0.3333]]]])
    assert to_bytes(images).tolist() == [[[[0, 128, 255, 85]]]]
    assert torch.equal(rounded(images), to_images(to_bytes(images)))


def test_a_tree_of_images_is_a_domain(toy_images):
    domain = load_domain(toy_images)
    assert domain.classes == ("left", "middle", "right") and domain.shape == (1, 6, 6)
    data = real_images(domain)
    assert len(data.labels) == 12
    assert data.images(torch.tensor([0])).shape == (1, 1, 6, 6)


def test_a_name_goes_before_a_folder_that_is_called_the_same(toy_images, monkeypatch):
    toy_images.rename(toy_images.parent / "mnist")
    monkeypatch.chdir(toy_images.parent)
    assert load_domain("mnist").shape == (1, 28, 28)
    assert load_domain("./mnist").classes == ("left", "middle", "right")


def test_a_domain_file_of_ones_own(toy_images):
    file = toy_images.parent / "bars.toml"
    file.write_text('shape = [1, 3, 3]\nclasses = ["left", "right"]\nfolder = "toys"\nresize = true\n')
    domain = load_domain(file)
    data = real_images(domain)
    assert data.images(torch.arange(3)).shape == (3, 1, 3, 3) and len(data.labels) == 8


def test_sources_are_tried_in_order(tmp_path, monkeypatch):
    domain = load_domain("mnist")
    images, labels = np.zeros((10, 28, 28), np.uint8), np.arange(10, dtype=np.uint8)
    named = npz(tmp_path / "named.npz", images, labels)
    folder = tmp_path / "data"
    folder.mkdir()
    npz(folder / "mnist.npz", np.concatenate([images, images]), np.concatenate([labels, labels]))
    monkeypatch.setattr("foible.domains.sources.CHECKOUT", tmp_path / "nowhere" / "else")
    monkeypatch.delenv("FOIBLE_DATA", raising=False)
    monkeypatch.chdir(tmp_path / "..")
    assert len(real_images(domain).labels) == 1000, "nothing else is there: the embedded sample"
    assert where_images_are(domain) == "the sample that comes with foible"
    monkeypatch.setenv("FOIBLE_DATA", str(folder))
    assert len(real_images(domain).labels) == 20, "a file in a data folder"
    assert where_images_are(domain) == f"mnist.npz in {folder}"
    assert len(real_images(domain, named).labels) == 10, "what the user names comes first"


@pytest.mark.skipif(find_spec("torchvision") is None, reason="torchvision is not installed")
def test_a_torchvision_download_is_found(tmp_path):
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part, count in (("train", 5), ("t10k", 3)):
        header = (0x803).to_bytes(4, "big") + b"".join(n.to_bytes(4, "big") for n in (count, 28, 28))
        (raw / f"{part}-images-idx3-ubyte").write_bytes(header + bytes(count * 784))
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(
            (0x801).to_bytes(4, "big") + count.to_bytes(4, "big") + bytes(range(count))
        )
    data = real_images(load_domain("mnist"), tmp_path, "test")
    assert data.labels.tolist() == [0, 1, 2] and data.source == "torchvision MNIST (test)"


def test_differences_are_undone():
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 256, (4, 5, 6, 3), dtype=np.uint8)
    planes = colour.transpose(3, 0, 1, 2).copy()
    planes[0] -= planes[1]
    planes[2] -= planes[1]
    first = np.diff(planes, axis=3, prepend=np.uint8(0))
    stored = np.diff(first, axis=2, prepend=np.uint8(0)).astype(np.uint8)
    assert (undo_differences(stored) == colour).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: d / "absent", "no images at"),
        (lambda d: (d / "empty").mkdir() or d / "empty", "has no subfolders"),
        (lambda d: npz(d / "f.npz", np.zeros((2, 9, 9), np.uint8), np.zeros(2, np.uint8)), "have shape"),
        (lambda d: npz(d / "f.npz", np.zeros((2, 28, 28)), np.zeros(2, np.uint8)), "expected uint8"),
        (lambda d: npz(d / "f.npz", np.zeros((2, 28, 28), np.uint8), np.array([0, 77], np.uint8)), "run from 0 to 77"),
        (lambda d: npz(d / "f.npz", np.zeros((2, 28, 28), np.uint8), np.zeros(3, np.uint8)), "labels of shape"),
        (
            lambda d: npz(d / "f.npz", np.zeros((2, 28, 28), np.uint8), np.zeros(2, np.uint8), "train"),
            "no images of the test split",
        ),
        (lambda d: (d / "f.npz").write_bytes(b"junk") and d / "f.npz", "cannot be read"),
    ],
)
def test_bad_data_is_named(tmp_path, make, message):
    with pytest.raises(DataError, match=message):
        real_images(load_domain("mnist"), make(tmp_path))


def test_an_unreadable_image_is_named(toy_images):
    (toy_images / "left" / "0.png").write_bytes(b"not a picture")
    domain = load_domain("mnist").model_copy(
        update={"classes": ("left",), "shape": (1, 6, 6), "folder": str(toy_images)}
    )
    with pytest.raises(DataError, match=r"0\.png' cannot be read"):
        real_images(domain).images(torch.tensor([0]))


def test_an_image_of_another_size_is_refused_unless_resizing_is_wanted(toy_images):
    Image.new("L", (9, 7)).save(toy_images / "left" / "0.png")
    domain = load_domain(toy_images).model_copy(update={"shape": (1, 6, 6)})
    with pytest.raises(DataError, match="is 9x7, the domain wants 6x6"):
        real_images(domain).images(torch.tensor([0]))
    assert real_images(domain.model_copy(update={"resize": True})).images(torch.tensor([0])).shape == (1, 1, 6, 6)


def test_a_missing_class_or_an_empty_tree_is_named(toy_images):
    with pytest.raises(DataError, match="lacks the classes absent"):
        real_images(load_domain(toy_images).model_copy(update={"classes": ("left", "absent")}))
    for file in toy_images.rglob("*.png"):
        file.unlink()
    with pytest.raises(DataError, match="no images in"):
        load_domain(toy_images)


def test_a_misspelt_domain_is_corrected():
    with pytest.raises(RecipeError) as caught:
        load_domain("mnits")
    assert "'mnist'" in caught.value.hint
