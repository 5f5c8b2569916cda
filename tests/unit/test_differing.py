"""Two classifiers' answers counted, with numbers a reader can check."""

import numpy as np
import pytest
import torch

from foible.differing.answers import Answers, ask, in_batches, must_be_comparable
from foible.differing.command import two_models
from foible.differing.corpus import Corpus, accepting, load_corpus, replay, replay_figures
from foible.differing.text import matrix_lines
from foible.differing.truth import judged_classes
from foible.errors import DataError, RecipeError
from foible.images import to_bytes, to_images
from foible.testing.toys import CLASSES, ToyClassifier


def bars(*rows):
    """Images of three bars of grey."""
    levels = torch.tensor(rows)
    return levels.repeat_interleave(2, 1)[:, None, None, :].expand(-1, 1, 6, 6).contiguous()


IMAGES = bars((0.2, 0.4, 0.6), (0.5, 0.52, 0.1), (0.5, 0.6, 0.0), (0.3, 0.3, 0.32), (0.9, 0.1, 0.1))
A, B = ToyClassifier("a"), ToyClassifier("b", bias=0.5)  # B adds 0.5 to ten times the left bar


def answers(expected=(2, 1, 1, 2, 0)):
    return ask(A, B, in_batches(5, lambda i: (IMAGES[i], torch.tensor(expected)[i])))


def test_disagreements_on_given_images_are_exact():
    """Left wins for B where it is at most 0.05 behind: the second (0.50 and 0.52) and the fourth (0.30 and 0.32)."""
    said = answers()
    assert said.a.tolist() == [2, 1, 1, 2, 0] and said.b.tolist() == [2, 0, 1, 0, 0]
    assert said.disagreements == 2
    assert said.matrix(3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    p = torch.tensor([5.0, 5.2, 1.0]).softmax(0)
    q = torch.tensor([5.5, 5.2, 1.0]).softmax(0)
    assert said.gaps[1].item() == pytest.approx(float((p - q).abs().max()), abs=1e-6)


def test_who_was_right():
    assert answers((2, 0, 1, -1, 0)).categories() == {
        "only_a_right": 0,
        "only_b_right": 1,
        "both_wrong": 0,
        "undecided": 1,
    }
    assert answers((2, 2, 1, 2, 0)).categories() == {
        "only_a_right": 1,
        "only_b_right": 0,
        "both_wrong": 1,
        "undecided": 0,
    }


def test_a_judge_is_not_asked_about_no_images():
    """Two models that never disagree are a result, not an error; a judge that reads text cannot look at nothing."""
    assert judged_classes(None, torch.empty(0, 1, 6, 6)).tolist() == []


def test_the_matrix_is_printed_or_its_commonest_pairs():
    lines = matrix_lines(answers(), CLASSES)
    assert lines[2].split() == ["middle", "1", "1", "."]
    many = tuple(f"c{k}" for k in range(20))
    said = Answers(torch.tensor([3, 3, 4]), torch.tensor([5, 5, 6]), torch.zeros(3), torch.zeros(3))
    assert matrix_lines(said, many) == ["     2  A: c3, B: c5", "     1  A: c4, B: c6"]


def corpus():
    said = {name: model(IMAGES).softmax(1) for name, model in (("tested", A), ("rival", B))}
    expected = torch.tensor([2, 1, 1, -1, 0])
    return Corpus(to_bytes(IMAGES), expected, said["tested"], said["rival"], CLASSES, ("a", "b"))


def test_a_corpus_is_read_as_it_was_written_and_asked_again(tmp_path):
    corpus().save(tmp_path / "c.npz")
    stored = load_corpus(tmp_path / "c.npz", CLASSES, (1, 6, 6))
    assert torch.equal(to_images(stored.images), to_images(to_bytes(IMAGES))) and stored.names == ("a", "b")
    same = replay_figures(stored, replay(stored, A, B))
    assert same["corpus_images"] == 5 and same["corpus_disagreements"] == 2 and same["corpus_regressions"] == 1
    assert same["corpus_changed_a"] == same["corpus_changed_b"] == 0
    mended = replay_figures(stored, replay(stored, A, A))
    assert mended["corpus_disagreements"] == 0 and mended["corpus_changed_b"] == 2 and mended["corpus_wrong_b"] == 0


def test_differences_that_were_accepted_are_not_new(tmp_path):
    made = corpus()
    now = replay(made, A, B)
    before = replay_figures(made, now)
    assert before["corpus_accepted"] == 0 and before["corpus_new"] == 2
    accepting(made, now).save(tmp_path / "c.npz")
    stored = load_corpus(tmp_path / "c.npz", CLASSES, (1, 6, 6))
    after = replay_figures(stored, now)
    assert after["corpus_accepted"] == 2 and after["corpus_new"] == 0
    other = replay_figures(stored, replay(stored, A, ToyClassifier("c", bias=-9)))
    assert other["corpus_new"] == other["corpus_disagreements"] == 1, "the last image is left no more: another answer"


def test_a_corpus_of_an_earlier_release_has_accepted_nothing(tmp_path):
    corpus().save(tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as file:
        np.savez(tmp_path / "old.npz", **{k: file[k] for k in file.files if k != "accepted"})
    assert load_corpus(tmp_path / "old.npz", CLASSES, (1, 6, 6)).accepted.tolist() == [-1] * 5


def test_what_is_no_corpus_is_refused(tmp_path):
    corpus().save(tmp_path / "c.npz")
    (tmp_path / "text.npz").write_text("no")
    np.savez(tmp_path / "other.npz", images=np.zeros(3))
    with pytest.raises(DataError, match="no corpus"):
        load_corpus(tmp_path / "none.npz", CLASSES, (1, 6, 6))
    for name in ("text.npz", "other.npz"):
        with pytest.raises(DataError, match="is no corpus"):
            load_corpus(tmp_path / name, CLASSES, (1, 6, 6))
    with pytest.raises(DataError, match="classes"):
        load_corpus(tmp_path / "c.npz", ("x", "y", "z"), (1, 6, 6))
    with pytest.raises(DataError, match="shape"):
        load_corpus(tmp_path / "c.npz", CLASSES, (3, 6, 6))


@pytest.mark.parametrize(
    ("a", "b", "names"),
    [
        ("model.pt", "model.onnx", ("model.pt", "model.onnx")),
        ("v1/model.pt", "v2/model.pt", ("v1/model.pt", "v2/model.pt")),
        ("old.pt", "new.pt", (None, None)),
        ("model.pt", "model.pt", (None, None)),
        ("mnist-lenet5", "mnist-deepconv", (None, None)),
    ],
)
def test_files_that_would_share_a_name_are_told_apart(a, b, names):
    models = two_models(a, b, None, {})
    assert (models.a.get("name"), models.b.get("name")) == names


def test_two_models_are_needed_and_their_classes_must_agree():
    with pytest.raises(RecipeError, match="two models"):
        two_models("a", None, None, {})
    with pytest.raises(RecipeError, match="not both"):
        two_models("a", "b", "int8", {})
    assert two_models("a", None, "int8", {}).b == {"use": "a", "variant": "int8"}
    other = ToyClassifier("other")
    other.classes = ("left", "right", "middle")
    with pytest.raises(RecipeError, match="same classes"):
        must_be_comparable(A, other)
