"""The nginx example, in the system's nginx, before a server that tells what reached it."""

import getpass
import http.client
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from recsys.paths import REPOSITORY

NAME = "films.example.org"
pytestmark = pytest.mark.skipif(
    not (shutil.which("nginx") and shutil.which("openssl")), reason="there is no nginx here: apt install nginx"
)


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
    """nginx, with the example but for its ports and paths, on two free ports; that of TLS, and the log."""
    folder = tmp_path_factory.mktemp("nginx")
    app = ThreadingHTTPServer(("127.0.0.1", 0), App)
    threading.Thread(target=app.serve_forever, daemon=True).start()
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        plain, secure = one.getsockname()[1], other.getsockname()[1]
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -keyout privkey.pem -out fullchain.pem"
    subprocess.run(make.split(), cwd=folder, check=True, capture_output=True)
    example = (REPOSITORY / "deploy" / "nginx.conf").read_text("utf-8")
    for theirs, ours in {
        "/etc/ssl/nextreel": str(folder),
        "127.0.0.1:8501": f"127.0.0.1:{app.server_port}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
        "/var/log/nginx": str(folder),
    }.items():
        assert theirs in example
        example = example.replace(theirs, ours)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    start = f"user {getpass.getuser()}; daemon off; pid {folder}/pid; events {{}}"
    whole = f"{start} http {{ access_log off; {temporary} {example} }}"
    (folder / "nginx.conf").write_text(whole)
    nginx = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "errors", "-p", folder])
    try:
        until = time.monotonic() + 60
        while nginx.poll() is None and time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", secure)) == 0:
                    break
            time.sleep(0.02)
        assert nginx.poll() is None, (folder / "errors").read_text()
        yield secure, folder / "nextreel.log"
    finally:
        nginx.terminate()
        nginx.wait()
        app.shutdown()


@pytest.fixture
def ask(site):
    """Asks nginx for an address; gives the status, the headers and the body."""

    def asked(path="/", method="GET", size=0, **headers):
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", site[0], context=trusting, timeout=30)
        connection.request(method, path, b"x" * size or None, {"Host": NAME, **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    return asked


def test_pages_come_through_with_the_name_of_the_site_and_the_address_of_the_visitor(ask):
    status, headers, body = ask()
    assert status == 200
    assert "max-age" in headers["Strict-Transport-Security"]
    assert json.loads(body)["host"] == NAME
    assert json.loads(body)["x-forwarded-for"] == "127.0.0.1"


def test_a_visitor_cannot_pretend_to_come_from_another_address(ask):
    body = ask(**{"X-Forwarded-For": "10.1.2.3"})[2]
    assert json.loads(body)["x-forwarded-for"] == "127.0.0.1"


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


def test_the_log_knows_no_session_and_no_history(ask, site):
    ask("/_stcore/upload_file/5e551011-aaaa/file", "PUT", 10, Origin=f"https://{NAME}")
    ask("/?s=1-260-1196")
    log, until = "", time.monotonic() + 30
    while "GET / 200" not in log and time.monotonic() < until:
        log = site[1].read_text()
    assert "PUT /_stcore/upload_file/ 200" in log
    assert "5e551011" not in log
    assert "1196" not in log
