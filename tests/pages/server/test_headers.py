from pages.server.headers import SecurityHeaders
from tests.pages.server.asgi import hello, request


def test_every_answer_says_what_a_page_may_do():
    start, body = request(SecurityHeaders(hello))
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    assert found["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert "object-src 'none'" in found["content-security-policy"]
    assert found["referrer-policy"] == "same-origin"
    assert body["body"] == b"hello"
