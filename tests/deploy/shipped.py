"""Run the shipped nginx file, systemd unit and Containerfile with other ports, names and folders."""

import getpass
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from recsys.paths import REPOSITORY

NAME = "films.example.org"  # the name that the shipped files have
PORT = 8501
TIMEOUT_SECONDS = 120  # a busy machine is slow, not wrong
HAS_NGINX = bool(shutil.which("nginx"))
NO_NGINX = "nginx is not installed: apt install nginx"


@dataclass(frozen=True)
class Site:
    """A running nginx."""

    port: int  # HTTPS
    plain_port: int  # HTTP
    folder: Path

    def logs(self) -> str:
        """Return the text of every log that nginx wrote."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("*.log")))


@dataclass(frozen=True)
class Service:
    """The command line and the environment of a shipped file."""

    command: list[str]
    environment: dict[str, str]
    health_check: list[str]


def free_ports(n: int) -> list[int]:
    """Return n different free ports of 127.0.0.1."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def nginx(folder: Path, app_port: int, name: str = NAME):
    """Run the system's nginx with deploy/nginx.conf; only names, ports and folders are replaced.

    The surrounding configuration has the log settings of Debian's /etc/nginx/nginx.conf.
    """
    plain_port, port = free_ports(2)
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout privkey.pem -out fullchain.pem"
    subprocess.run(make.split(), cwd=folder, check=True, capture_output=True)
    site = (REPOSITORY / "deploy" / "nginx.conf").read_text("utf-8")
    replacements = {
        "/etc/ssl/nextreel": str(folder),
        f"127.0.0.1:{PORT}": f"127.0.0.1:{app_port}",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/var/log/nginx": str(folder),
        NAME: name,
    }
    for shipped, replacement in replacements.items():
        assert shipped in site
        site = site.replace(shipped, replacement)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    start = f"user {getpass.getuser()}; daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}"
    (folder / "nginx.conf").write_text(f"{start} http {{ access_log {folder}/access.log; {temporary} {site} }}")
    process = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log", "-p", folder])
    try:
        wait_until(lambda: process.poll() is not None or is_open(port))
        assert process.poll() is None, (folder / "error.log").read_text()
        yield Site(port, plain_port, folder)
    finally:
        process.terminate()
        process.wait()


def unit(name: str, port: int, folder: Path) -> Service:
    """Read deploy/nextreel.service."""
    lines = logical_lines("nextreel.service", name, port)
    (command,) = (shlex.split(line.partition("=")[2]) for line in lines if line.startswith("ExecStart="))
    pairs = (line.split("=", 2)[1:] for line in lines if line.startswith("Environment="))
    page = (REPOSITORY / "docs" / "deployment.md").read_text("utf-8")
    (check,) = re.findall(rf"^curl -s (http://127\.0\.0\.1:{PORT}\S+)$", page, re.MULTILINE)
    health_check = ["curl", "-sf", check.replace(str(PORT), str(port))]
    return Service(runnable(command), in_folder(dict(pairs), folder), health_check)


def container(name: str, port: int, folder: Path) -> Service:
    """Read deploy/Containerfile."""
    lines = logical_lines("Containerfile", name, port)
    (command,) = (json.loads(line.removeprefix("CMD")) for line in lines if line.startswith("CMD "))
    assert not any(line.startswith("ENTRYPOINT") for line in lines)
    words = [word for line in lines if line.startswith("ENV ") for word in shlex.split(line)[1:]]
    (check,) = (json.loads(line.partition(" CMD ")[2]) for line in lines if line.startswith("HEALTHCHECK "))
    return Service(runnable(command), in_folder(dict(word.split("=", 1) for word in words), folder), runnable(check))


def logical_lines(file: str, name: str, port: int) -> list[str]:
    """Return the lines of a shipped file with another name and port; continued lines are joined."""
    text = (REPOSITORY / "deploy" / file).read_text("utf-8")
    assert NAME in text
    assert str(PORT) in text
    return re.sub(r"\\\n\s*", " ", text).replace(NAME, name).replace(str(PORT), str(port)).splitlines()


def runnable(command: list[str]) -> list[str]:
    """Return the command with the Python and the Streamlit that run the tests."""
    program, *arguments = command
    python = {"streamlit": [sys.executable, "-m", "streamlit"], "python": [sys.executable]}[Path(program).name]
    return [*python, *arguments]


def in_folder(environment: dict[str, str], folder: Path) -> dict[str, str]:
    """Return the environment with the data and temporary folders below `folder`."""
    for variable in ("RECSYS_HOME", "TMPDIR"):
        if variable in environment:
            environment[variable] = str(folder / variable.lower())
            Path(environment[variable]).mkdir()
    return environment


@contextmanager
def app(service: Service, folder: Path):
    """Run a service until the end of the block; yields its log file once the health check succeeds."""
    log = folder / "app.log"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("STREAMLIT_", "NEXTREEL_"))}
    with log.open("wb") as output:
        process = subprocess.Popen(
            service.command,
            cwd=REPOSITORY,
            env=inherited | service.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        port = next(int(word.partition("=")[2]) for word in service.command if word.startswith("--server.port="))
        address = f"http://127.0.0.1:{port}/ready"
        wait_until(lambda: process.poll() is not None or answers(address))
        assert process.poll() is None, log.read_text()
        assert subprocess.run(service.health_check, capture_output=True).returncode == 0
        yield log
    finally:
        process.terminate()
        process.wait()


def wait_until(condition) -> None:
    """Wait until the condition is true; fail after TIMEOUT_SECONDS."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_open(port: int) -> bool:
    """Return whether a program listens on a port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(address: str) -> bool:
    """Return whether an address answers with success."""
    try:
        with urllib.request.urlopen(address, timeout=5):  # noqa: S310 - on this machine
            return True
    except OSError:
        return False
