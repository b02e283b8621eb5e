"""Pages of a data set whose titles are attacks: Chromium runs no code of them and asks no other machine."""

import pytest

from tests.browser.test_app import PAGES
from tests.pages import world
from tests.served_app import served_app

pytestmark = pytest.mark.reliability

ATTACKS = [
    "<script>window.__xss=1</script>",
    "<img src=x onerror='window.__xss=1'>",
    "<svg/onload=window.__xss=1>",
    '"><script>window.__xss=1</script>',
    "'><img src=http://evil.example/a.png>",
    "</b></div></style></textarea><script>window.__xss=1</script>",
    "<iframe src='javascript:parent.__xss=1'></iframe>",
    "<a href='javascript:window.__xss=1'>here</a>",
    "[here](javascript:window.__xss=1)",
    "![here](http://evil.example/b.png)",
    "[here](http://evil.example/)",
    "http://evil.example/ here",
    "www.evil.example",
    "<form action=http://evil.example><input name=password></form>",
    "<style>@import 'http://evil.example/c.css';</style>",
    "<link rel=stylesheet href=http://evil.example/d.css>",
    "<base href=http://evil.example/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "$\\href{javascript:window.__xss=1}{x}$",
    ":material/delete: :red[red] :smile:",
    "&lt;script&gt;window.__xss=1&lt;/script&gt;",
    "&#60;img src=x onerror=window.__xss=1&#62;",
    "{{constructor.constructor('window.__xss=1')()}}",
    "\u202egnp.exe \u200b\u2066",
    "<table background=http://evil.example/e.png><td>",
    "<object data=http://evil.example/f></object>",
    "<video poster=http://evil.example/g.png>",
]
LINKS = "document.querySelectorAll('[href*=evil],[src*=evil],[action*=evil]').length"


@pytest.fixture(scope="module")
def hostile_app(tmp_path_factory):
    """The app over a data set whose titles are ATTACKS, and the query of a link to its films."""
    titles = [*world.TITLES[:6], *(f"{attack} (2000)" for attack in ATTACKS)]
    home = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(home))
        dataset = world.build(titles=titles)
        world.save(dataset)
        world.train(dataset)
        with served_app() as app:
            yield app.address, f"s={'-'.join(map(str, range(4, len(titles) + 1)))}"


@pytest.mark.parametrize("page", PAGES)
def test_titles_are_shown_as_text(hostile_app, tab, page):  # `tab` fails if another machine is asked
    address, films = hostile_app
    tab.goto(f"{address}/{page}{'&' if '?' in page else '?'}{films}")
    tab.get_by_role("heading", name=PAGES[page], level=1).wait_for()
    tab.wait_for_selector("[data-test-script-state=notRunning]", state="attached")
    tab.wait_for_timeout(500)
    assert tab.evaluate("window.__xss") is None
    assert tab.evaluate(LINKS) == 0
