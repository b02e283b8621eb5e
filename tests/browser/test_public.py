"""`python -m recsys app --public` serves the network, and visitors can change nothing."""

import os
import re
import socket
import subprocess
import sys

import pytest

from recsys import paths
from recsys.data import own_data, tables
from recsys.machine import terminate_with_parent
from tests.browser.requests import http_status, websocket_status

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def public_address(tmp_path_factory):
    """The app as the command starts it, with a data set that somebody added to this machine."""
    environment = {key: value for key, value in os.environ.items() if key not in (paths.PUBLIC, "DISPLAY")}
    environment["RECSYS_HOME"] = home = str(tmp_path_factory.mktemp("public"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", home)
        own_data.add("shop", own_data.check(tables.parse("shop.csv", b"user,item\n1,2\n")), "shop.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "recsys", "app", "--public"],
        cwd=paths.REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=terminate_with_parent,
    )
    try:
        yield re.search(r"http://localhost:\d+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.wait()


def test_visitors_do_not_train(public_address, tab):
    tab.goto(f"{public_address}/library")
    tab.get_by_role("heading", name="Library", level=1).wait_for()
    assert tab.get_by_role("link", name="Evaluation").count()
    assert tab.get_by_role("link", name="Train").count() == 0


def test_visitors_neither_add_nor_delete_data_sets(public_address, tab):
    tab.goto(public_address)
    tab.get_by_role("button", name="More data sets").click()
    dialog = tab.get_by_role("dialog")
    dialog.get_by_role("button", name="Open shop").wait_for()
    assert dialog.get_by_text("Add your own data").count() == 0
    names = " ".join(dialog.get_by_role("button").all_inner_texts())
    assert not re.search("Delete|Get|Add", names), names


def test_the_network_reaches_it_by_address_and_name_and_no_foreign_host_does(public_address):
    port = public_address.rpartition(":")[2]
    name = socket.gethostname()
    for host in ("192.168.178.20", "10.0.0.7", "127.0.0.1", "localhost", name, f"{name}.local"):
        own = f"{host}:{port}"
        assert (http_status(public_address, own), websocket_status(public_address, own)) == (200, 101), own
    for host in ("rebound.example", "192.168.178.20.rebound.example"):
        assert http_status(public_address, host) == 400
        assert websocket_status(public_address, host) in (400, 403)
