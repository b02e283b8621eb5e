"""What a person reads on a page of the app under test."""

import json
import re
from html import unescape as unescape_html

from tests.pages import world


def film(html):
    """The title in a card or a row."""
    return unescape_html(re.search(r"<b>(.*?)</b>", html)[1])


def watched(app):
    return films_in(app, "sequence") if app.session_state.visitor.current.films else []


def films_in(app, key):
    """The titles of the cards or rows in a container."""
    return [film(html.value) for html in app.container(key=key).html]


def picks(app):
    return films_in(app, "picks")


def said(app):
    """Sentences and commands, without what is escaped for Markdown."""
    kinds = ("markdown", "caption", "info", "warning", "code")
    return " ".join(element.value for kind in kinds for element in app.get(kind)).replace("\\", "")


def unescape(text):
    """Undo the escapes of Markdown."""
    return text.replace("\\", "")


def keys(app):
    return [button.key for button in app.button]


def titles(*items):
    return [world.TITLES[item][:-7] for item in items]


def tagged(html):
    """Everything in bold."""
    return [unescape_html(title) for title in re.findall(r"<b>(.*?)</b>", html)]


def chart_specs(app):
    """The charts of a page, as Plotly gets them."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
