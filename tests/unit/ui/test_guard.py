"""The door: who is let in, and what a page may do."""

import pytest

from foible.errors import FoibleError
from foible.ui.app import Settings


@pytest.mark.parametrize("options", [{"host": "0.0.0.0"}, {"host": "192.168.1.4"}, {"share": True}])
def test_leaving_this_machine_needs_a_password(tmp_path, options):
    with pytest.raises(FoibleError, match="needs a password"):
        Settings(tmp_path, **options)
    Settings(tmp_path, password="long enough", **options)
    with pytest.raises(FoibleError, match="shorter than 8"):
        Settings(tmp_path, password="short", **options)


def test_a_foreign_name_is_refused(visit):
    assert visit().get("/", headers={"host": "127.0.0.1:7860"}).status_code == 200
    assert visit().get("/", headers={"host": "localhost:7860"}).status_code == 200
    assert visit().get("/", headers={"host": "evil.example:7860"}).status_code == 403


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"origin": "null"}, {"origin": ""}])
def test_a_foreign_page_cannot_send(visit, headers):
    for path in ("/runs", "/runs/toy/stop", "/uploads?name=a.safetensors", "/runs/toy/people/answer"):
        assert visit().post(path, headers=headers).status_code == 403


def test_nothing_from_elsewhere_is_allowed_in_pages(visit):
    answer = visit().get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=Strict" in answer.headers["set-cookie"]


def test_with_a_password_every_page_asks_for_it(visit):
    client = visit(password="open sesame")
    for path in ("/", "/setup", "/runs/toy", "/runs/toy/export/findings.zip", "/pictures/domain/mnist.png"):
        assert client.get(path).headers["location"].startswith("/login")
    assert client.post("/login", content="password=guess").status_code == 403
    assert client.get("/").status_code == 303
    answer = client.post("/login?next=/compare", content="password=open+sesame")
    assert answer.status_code == 303 and answer.headers["location"] == "/compare"
    assert client.get("/").status_code == 200
    assert visit(password="open sesame").get("/").status_code == 303, "another browser must ask too"


def test_the_password_page_leads_nowhere_else(visit):
    for target in ("//evil.example", "https://evil.example", "/\\evil.example"):
        answer = visit(password="open sesame").post(f"/login?next={target}", content="password=open+sesame")
        assert answer.headers["location"] == "/"
