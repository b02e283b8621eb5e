"""The shipped nginx file in the system's nginx, before a stub that returns the request headers, or before no app."""

import http.client
import itertools
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.deploy import shipped
from tests.deploy.shipped import NAME

FILMS, SESSION = "1-260-1196", "5e551011-aaaa"
LINK, UPLOAD = f"/?data=ml-1m&s={FILMS}", f"/_stcore/upload_file/{SESSION}/file"
OURS = {"Origin": f"https://{NAME}", "Referer": f"https://{NAME}{LINK}"}
TOO_LARGE = 60_000_000  # bytes
MAX_REQUESTS = 5000

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shipped.HAS_NGINX, reason=shipped.NO_NGINX)]


class App(BaseHTTPRequestHandler):
    """Answers with the method and the headers of the request."""

    def do_GET(self):
        size = int(self.headers.get("Content-Length", 0))
        self.rfile.read(size)
        body = json.dumps({"size": size, **{name.lower(): value for name, value in self.headers.items()}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_GET

    def log_message(self, *about):
        """Nothing: the tests' output stays readable."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """nginx before the stub."""
    app = ThreadingHTTPServer(("127.0.0.1", 0), App)
    threading.Thread(target=app.serve_forever, daemon=True).start()
    with shipped.nginx(tmp_path_factory.mktemp("nginx"), app.server_port) as running:
        yield running
    app.shutdown()


@pytest.fixture
def ask(site):
    """A function that sends a request and returns the status, the headers and the body."""

    def asked(path="/", method="GET", size=0, **headers):
        response = request(site, path, method, b"x" * size or None, headers)
        return response.status, dict(response.getheaders()), response.read()

    return asked


def connect(site):
    """Open a connection over TLS; it is kept for several requests."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection("127.0.0.1", site.port, context=context, timeout=shipped.TIMEOUT_SECONDS)


def request(site, path, method="GET", body=None, headers=None):
    """Send a request over a connection of its own; the body can be read afterwards."""
    connection = connect(site)
    connection.request(method, path, body, {"Host": NAME, "Connection": "close", **(headers or {})})
    return connection.getresponse()


def statuses(site, paths):
    """Send requests over one connection as fast as nginx answers, and yield their statuses."""
    connection = connect(site)
    for path in paths:
        connection.request("GET", path, headers={"Host": NAME, **OURS})
        response = connection.getresponse()
        response.read()
        yield response.status
    connection.close()


@pytest.mark.parametrize(("origin", "status"), [(f"https://{NAME}", 200), ("https://evil.example", 403), (None, 403)])
@pytest.mark.parametrize("path", ["/_stcore/stream", "/_stcore/upload_file/session/file"])
def test_only_our_own_pages_open_connections_and_send_files(ask, path, origin, status):
    assert ask(path, **({"Origin": origin} if origin else {}))[0] == status


@pytest.mark.parametrize(
    "path", ["/_stcore/metrics", "/_stcore/agent/interact", "/_stcore/script-health-check", "/ready"]
)
def test_what_the_server_says_of_itself_stays_on_its_machine(ask, path):
    assert ask(path)[0] == 404


def test_large_bodies_are_refused_but_where_a_page_asks_for_a_file(ask):
    ours = {"Origin": f"https://{NAME}"}
    assert ask("/", "PUT", 70_000, **ours)[0] == 413
    status, _, body = ask("/_stcore/upload_file/session/file", "PUT", 70_000, **ours)
    assert (status, json.loads(body)["size"]) == (200, 70_000)


@pytest.mark.parametrize("path", ["/", "/_stcore/stream", "/_stcore/upload_file/session/file"])
def test_every_location_passes_the_name_and_the_true_address_of_the_visitor(ask, path):
    status, headers, body = ask(path, Origin=f"https://{NAME}", **{"X-Forwarded-For": "10.1.2.3"})
    forwarded = json.loads(body)
    assert status == 200
    assert "max-age" in headers["Strict-Transport-Security"]
    names = ("host", "x-forwarded-for", "x-forwarded-proto")
    assert [forwarded[name] for name in names] == [NAME, "127.0.0.1", "https"]


def test_http_redirects_to_the_name_of_the_site_whatever_the_client_sends(site):
    connection = http.client.HTTPConnection("127.0.0.1", site.plain_port, timeout=shipped.TIMEOUT_SECONDS)
    connection.request("GET", LINK, headers={"Host": "evil.example"})
    response = connection.getresponse()
    connection.close()
    assert (response.status, response.headers["Location"]) == (308, f"https://{NAME}{LINK}")
    shipped.wait_until(lambda: " 308 " in site.logs())
    assert FILMS not in site.logs()


def test_no_log_has_films_or_sessions_of_requests_that_succeed(ask, site):
    ask(UPLOAD, "PUT", 10, **OURS)
    ask(LINK, **OURS)
    shipped.wait_until(lambda: "GET / 200" in site.logs())
    assert "PUT /_stcore/upload_file/ 200" in site.logs()
    assert_private(site)


def test_no_log_has_films_or_sessions_of_requests_that_fail(tmp_path):
    (unused_port,) = shipped.free_ports(1)
    with shipped.nginx(tmp_path, unused_port) as site:
        too_large = {**OURS, "Content-Length": str(TOO_LARGE)}
        for path, method, headers, status in (
            (LINK, "GET", OURS, 502),
            (UPLOAD, "PUT", OURS, 502),
            (LINK, "POST", too_large, 413),
            (UPLOAD, "PUT", too_large, 413),
            (LINK, "GET", {**OURS, "Cookie": "c" * 40_000}, 400),
        ):
            assert request(site, path, method, headers=headers).status == status
        paths = itertools.islice(itertools.cycle([LINK, UPLOAD]), MAX_REQUESTS)
        assert 503 in statuses(site, paths)  # more requests than limit_req allows
        for status in (400, 413, 502, 503):
            shipped.wait_until(lambda status=status: f" {status} " in site.logs())
        assert_private(site)


def assert_private(site):
    """Check that no log has the films or the session id of a request."""
    for private in (FILMS, SESSION):
        assert private not in site.logs()
