"""Files are written whole or not at all; images survive the way through a PNG."""

import os
import threading

import numpy as np
import pytest
import torch

from foible.errors import DataError, StoreError
from foible.files import replacing, write_new, write_whole
from foible.images import as_pixels, pixel_digest, png, png_bytes, read_pixels, read_png, rounded
from foible.records import Verdict, everyone_accepts


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "note.txt"
    write_whole(target, "old")
    with pytest.raises(RuntimeError), replacing(target) as partial:
        partial.write_text("half of the n")
        raise RuntimeError
    assert target.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["note.txt"]
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"


def test_a_folder_that_is_not_there_is_an_error_with_the_path(tmp_path):
    with pytest.raises(StoreError, match=r"cannot write '.*gone/note.txt'"):
        write_whole(tmp_path / "gone" / "note.txt", "x")


def test_a_new_file_takes_the_place_of_one_left_behind_and_follows_no_link(tmp_path):
    mine, target = tmp_path / "mine.txt", tmp_path / "image.png"
    mine.write_bytes(b"mine")
    target.symlink_to(mine)
    write_new(target, b"whole")
    assert (target.read_bytes(), mine.read_bytes()) == (b"whole", b"mine")
    target.write_bytes(b"ha")
    write_new(target, b"whole again")
    assert target.read_bytes() == b"whole again"
    with pytest.raises(StoreError, match=r"cannot write '.*gone/image.png'"):
        write_new(tmp_path / "gone" / "image.png", b"x")


def test_a_disk_that_keeps_another_content_is_named(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda opened, content: write(opened, content[:-1]))
    with pytest.raises(StoreError, match="is not what was written"):
        write_new(tmp_path / "image.png", b"whole")


def test_two_threads_write_the_same_file(tmp_path):
    target, ready = tmp_path / "note.txt", threading.Barrier(2)

    def write(text):
        with replacing(target) as partial:
            ready.wait(10)
            partial.write_text(text)
            ready.wait(10)

    threads = [threading.Thread(target=write, args=(t,)) for t in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert target.read_text() in {"one", "two"} and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("shape", [(1, 5, 7), (3, 5, 7)])
def test_an_image_comes_back_from_memory_as_from_a_file(tmp_path, shape):
    image = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    content = png_bytes(image)
    write_whole(tmp_path / "image.png", content)
    for source in (content, tmp_path / "image.png"):
        assert torch.equal(read_png(source, shape), rounded(image))
    assert pixel_digest(image) == pixel_digest(read_png(content, shape))
    assert png(as_pixels(image)) == content


def test_one_plane_is_grey_and_four_have_opacity():
    grey = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert png(grey[:, :, None]) == png(grey)
    assert read_pixels(png(np.dstack([grey] * 4)), (3, 2, 3)).shape == (3, 2, 3)


def test_a_damaged_picture_in_memory_is_named_as_such():
    with pytest.raises(DataError, match="image in memory cannot be read"):
        read_png(b"no picture", (1, 2, 2))
    with pytest.raises(DataError, match="image in memory is 3x2, the domain wants 2x2"):
        read_png(png(np.zeros((2, 3), np.uint8)), (1, 2, 2))


def test_all_verdicts_accept():
    image, label = Verdict("v", True, 0.9, "image"), Verdict("v", False, 0.1, "label")
    assert everyone_accepts([]) and everyone_accepts([image]) and not everyone_accepts([image, label])
    assert everyone_accepts([image, label], "image") and not everyone_accepts([image, label], "label")
