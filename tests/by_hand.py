"""Runs written by hand, without an engine: for tests of stores, reports, surveys and pages."""

import hashlib

from foible.files import write_whole
from foible.images import png_bytes
from foible.store.database import insert_finding
from foible.types import TESTED


def save_image(writer, name, image):
    """Put one PNG into the run; gives its path and sha256."""
    content, path = png_bytes(image), writer.layout.images / name
    write_whole(path, content)
    return path, hashlib.sha256(content).hexdigest()


def record(writer, outcomes, findings=()):
    """Put outcomes and findings into the run; their images are there already."""
    with writer.transaction():
        for finding in findings:
            insert_finding(writer.database, finding)
        for outcome in outcomes:
            writer.add_outcome(outcome)


def by_tested(*probabilities):
    """What the tested classifier says."""
    return {TESTED: tuple(probabilities)}
