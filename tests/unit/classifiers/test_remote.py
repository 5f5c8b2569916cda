"""A model server on loopback: JSON and upload, retries, limits, and what is refused."""

import io
import json
import threading
import time
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import torch
from PIL import Image

from foible.classifiers.kinds.remote import RemoteNetwork
from foible.classifiers.load import load_classifier
from foible.errors import ModelError, RecipeError


def scores_of(images):
    bars = np.asarray(images, dtype=np.float32)[..., 0].mean(1).reshape(-1, 3, 2).mean(2)
    return (-40 * np.abs(bars - 0.8)).tolist()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers), body, time.monotonic()))
        getattr(self, "on_" + self.path.strip("/").partition("?")[0])(body)

    def answer(self, value, status=200, headers=()):
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def on_json(self, body):
        self.answer({"predictions": scores_of(json.loads(body)["instances"])})

    def on_other(self, body):
        self.answer({"result": {"scores": scores_of(json.loads(body)["pictures"])}})

    def on_png(self, body):
        whole = b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body
        parts = BytesParser(policy=HTTP).parsebytes(whole).iter_parts()
        pictures = [np.asarray(Image.open(io.BytesIO(p.get_content()))) / 255 for p in parts]
        self.answer({"predictions": scores_of(np.stack(pictures)[..., None])})

    def on_flaky(self, body):
        if len(self.server.seen) % 3:
            self.answer({}, 503, [("Retry-After", "0")])
        else:
            self.on_json(body)

    def on_redirect(self, _body):
        self.answer({}, 302, [("Location", "http://127.0.0.1:1/secret")])

    def on_slow(self, body):
        time.sleep(1)
        self.on_json(body)

    def on_words(self, _body):
        self.answer({"predictions": ["left"]})

    def on_forbidden(self, _body):
        self.answer({}, 403)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.seen = []
    running.at = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


def network(server, path, **settings):
    return RemoteNetwork(server.at + path, **{"private": True, "retries": 0, **settings})


@pytest.mark.parametrize(
    ("path", "settings", "tolerance"),
    [
        ("/json", {}, 1e-4),
        ("/other", {"field": "pictures", "answer": "result.scores"}, 1e-4),
        ("/png", {"send": "png", "batch": 4}, 1e-3),
    ],
)
def test_same_scores_as_at_home(server, bars, real, files, path, settings, tolerance):
    classifier = load_classifier(server.at + path, domain=bars, private=True, **settings)
    images = real.images(torch.arange(10))
    assert torch.allclose(classifier(images), files.module()(images), atol=tolerance)
    assert list(classifier.digests) == [server.at + path]
    assert classifier.digests[server.at + path].endswith("what answers there cannot be checked")
    cost = classifier.network.cost
    assert cost.requests == len(server.seen) and cost.images >= 100 and cost.sent_bytes > 0 and cost.seconds > 0


def test_requests_are_cut_to_the_batch_and_padding_is_not_paid_for(server):
    remote = network(server, "/json", batch=4)
    images = torch.rand(9, 6, 6, 1)
    assert torch.equal(remote(torch.cat([images, images[-1:].expand(7, -1, -1, -1)]))[:9], remote(images))
    assert [len(json.loads(s[2])["instances"]) for s in server.seen] == [4, 4, 1] * 2
    assert remote.cost.images == 18
    assert remote(images[:1].expand(3, -1, -1, -1)).shape == (3, 3)


def test_retries_with_patience(server):
    remote = network(server, "/flaky", retries=4)
    assert remote(torch.rand(2, 6, 6, 1)).shape == (2, 3)
    assert remote.cost.requests == 3 and remote.cost.retries == 2
    pauses = np.diff([s[3] for s in server.seen])
    assert pauses[0] >= 0.2 and pauses[1] > pauses[0]


def test_rate_limit(server):
    remote = network(server, "/json", batch=1, per_second=20)
    begin = time.monotonic()
    remote(torch.rand(5, 6, 6, 1))
    assert time.monotonic() - begin >= 4 / 20


def test_headers_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("MODEL_TOKEN", "s3cret")
    network(server, "/json", headers={"Authorization": "Bearer ${MODEL_TOKEN}"})(torch.rand(1, 6, 6, 1))
    assert server.seen[0][1]["Authorization"] == "Bearer s3cret"
    with pytest.raises(RecipeError, match="'OTHER_TOKEN', which is not set"):
        network(server, "/json", headers={"Authorization": "${OTHER_TOKEN}"})


@pytest.mark.parametrize(
    ("path", "settings", "says"),
    [
        ("/redirect", {}, "redirects to http://127.0.0.1:1/secret"),
        ("/slow", {"timeout": 0.2}, "no answer"),
        ("/words", {}, "has no scores under 'predictions'"),
        ("/json", {"answer": "scores"}, "has no scores under 'scores'"),
        ("/forbidden", {}, "status 403"),
    ],
)
def test_bad_answers_are_explained(server, path, settings, says):
    with pytest.raises(ModelError, match=says):
        network(server, path, **settings)(torch.rand(1, 6, 6, 1))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "0.0.0.0"])
def test_private_addresses_need_a_word(host):
    with pytest.raises(ModelError, match="private network") as error:
        RemoteNetwork(f"http://{host}:9/predict")
    assert "--private" in error.value.hint


@pytest.mark.parametrize("url", ["ftp://example.org/x", "http://user:secret@127.0.0.1/", "http:///x"])
def test_odd_addresses_are_refused(url):
    with pytest.raises(RecipeError) as error:
        RemoteNetwork(url, private=True)
    assert "secret" not in str(error.value)
