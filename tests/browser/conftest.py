from contextlib import ExitStack

import numpy as np
import pytest

from benchmarks.browser_latency import CHROMIUM_FLAGS, chromium_path
from recsys.data.split import LEAVE_ONE_OUT
from recsys.evaluation import results
from tests.pages import world
from tests.pages.evaluation.test_page import result
from tests.served_app import served_app

SLOW = 120_000  # ms; a busy machine is slow, not wrong


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The app, served from this repository over a toy MovieLens 100K."""
    home = tmp_path_factory.mktemp("browser")
    world.furnish(home)
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # the server keeps the home, the tests of this process do not
            patch.setenv("RECSYS_HOME", str(home))
            world.train_best()
            evaluate_all()
            app = stack.enter_context(served_app())
        yield app.address


def evaluate_all():
    """Write results of three recommenders, so that Evaluation has a leaderboard."""
    for variant, rank in {"bert4rec": 1, "popular": 25, "markov": 3}.items():
        ranks = np.full((1, len(LEAVE_ONE_OUT(world.build()).test)), rank)
        results.write(result(variant, "ml-latest-sample", "full", ranks), ranks)


@pytest.fixture(scope="session")
def chromium(playwright):
    """The system's browser."""
    path = chromium_path()
    if not path:
        pytest.skip("there is no chromium on this machine: install it, as in apt install chromium")
    browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS.split())
    yield browser
    browser.close()


@pytest.fixture
def tab(chromium):
    """A fresh tab; at its end, everything that was asked of another machine is an error."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(SLOW)
    strangers = []
    page.on("request", lambda request: strangers.append(request.url) if is_strange(request.url) else None)
    yield page
    page.close()
    assert strangers == []


def is_strange(url):
    """Whether an address is outside this machine."""
    return not url.startswith(("http://localhost:", "ws://localhost:", "data:", "blob:"))
