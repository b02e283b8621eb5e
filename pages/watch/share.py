"""A link to the sequence, and files of it and of its predictions."""

from urllib.parse import urlencode

import streamlit as st

from pages.shared import sequence
from pages.watch import words
from pages.watch.predictions import Answer
from recsys.data.schema import Dataset
from recsys.serving import export


def popover(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The link and the files, made when the popover is opened."""
    panel = st.popover(words.SHARE, icon=":material/share:", key="share", on_change="rerun", disabled=not films)
    if not (panel.open and films):
        return
    with panel:
        st.markdown(f"**{words.LINK}**")
        page = (st.context.url or "").partition("?")[0]
        st.code(f"{page}?{urlencode(sequence.address())}", language=None, wrap_lines=True)
        st.caption(words.SHARE_HELP)
        st.markdown(f"**{words.FILES}**")
        with st.container(horizontal=True, gap="small"):
            files(dataset, films, answer)
        st.caption(words.FILES_HELP)


def files(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The sequence and its predictions for other programs."""
    catalog = dataset.catalog
    picks, title = (answer.picks, answer.predictor.title) if answer else ([], "")
    made = (
        (words.FILMS_FILE, "films.csv", "text/csv", export.for_spreadsheet(export.films_csv(catalog, films))),
        (words.PICKS_FILE, "next.csv", "text/csv", export.for_spreadsheet(export.predictions_csv(catalog, picks))),
        (words.JSON_FILE, "films.json", "application/json", export.as_json(dataset.name, title, catalog, films, picks)),
        (words.LETTERBOXD_FILE, "letterboxd.csv", "text/csv", export.letterboxd(catalog, films)),
    )
    for label, name, mime, data in made:
        file = f"nextreel-{name}"
        st.download_button(
            label, data, file, mime, key=f"file-{name}", icon=":material/download:", type="tertiary", on_click="ignore"
        )
