"""What reaches a terminal is text, whoever prints it."""

import subprocess
import sys

import pytest

from foible.cli.terminal import plain_streams
from foible.plain import plain
from foible.testing.toys import write_toy_images

ACTING = ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "a\rb", "\x08\x08", "\u202egpj.exe", "\u2028", "\x7f", "\udcff"]


@pytest.mark.parametrize("text", ACTING, ids=ascii)
def test_nothing_acts_on_a_terminal(text, capsys):
    with plain_streams():
        print(text)
        print(text, file=sys.stderr)
    said = capsys.readouterr()
    assert said.out == said.err == plain(text) + "\n"
    assert said.out.isascii() and "\\" in said.out
    assert all(c.isprintable() or c == "\n" for c in said.out)


def test_plain_text_stays_as_it_is():
    for text in ("naïve Ωμέγα 猫 👩‍🔬", "two\nlines\tand a tab", "C:\\x1b"):
        assert plain(text) == text


def test_what_a_model_prints_and_what_it_is_called_is_shown_and_not_obeyed(tmp_path):
    toys = write_toy_images(tmp_path / "toys")
    file = tmp_path / "a\x1b[2Jb.py"
    file.write_text(
        "import numpy as np\n"
        "def predict(images):\n"
        "    print('\\x1b]0;owned\\x07')\n"
        "    return images[..., 0].mean(1).reshape(-1, 3, 2).mean(2) * 10\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "foible", "test", f"{file}:predict", "--domain", str(toys), "--look"],
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert b"owned" in ended.stdout and b"\x1b" not in ended.stdout + ended.stderr
