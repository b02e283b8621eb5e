"""Parts of a page that open on demand, each on a small page of its own."""

from streamlit.testing.v1 import AppTest


def script(part, variant, item):
    import importlib

    import streamlit as st

    from pages.ui import cache, session
    from recsys.serving.recommend import Request

    session.load()
    dataset = cache.dataset("ml-latest-sample")
    session.convert_pending(dataset)
    films = session.visitor().current.films
    predictor = cache.load_predictor(variant, dataset.name)
    module = importlib.import_module(f"pages.{part}")
    st.text(" ".join(map(str, films)))
    if part == "ui.explanation":
        module.dialog_body(predictor, Request(films), item)
    elif part == "watch.theme_search":
        module.panel(dataset.name)
    else:
        module.panel(predictor, Request(films))


def opened(part, key=None, s="", variant="bert4rec", item=3):
    """The module `pages.<part>` for the films of a link; key: of what is to be open."""
    app = AppTest.from_function(script, kwargs={"part": part, "variant": variant, "item": item}, default_timeout=60)
    app.query_params["s"] = s
    return open_part(app, key) if key else app.run()


def open_part(app, key):
    """Open a popover or an expander of a page."""
    app.session_state[key] = True
    return app.run()


def films(app):
    return app.text[0].value
