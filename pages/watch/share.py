"""A link to the sequence, a picture of it, and files of it and of its predictions."""

from urllib.parse import urlencode

import streamlit as st

from pages.shared import download, loaders, popovers, sequence
from pages.watch import words
from pages.watch.predictions import Answer
from recsys.data.schema import Dataset, Film
from recsys.serving import export, picture


def popover(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The link, the picture and the files, made when the popover is opened."""
    panel = popovers.popover(
        words.SHARE, "share", "share", disabled=not films, first=("file-picture", "file-films-csv")
    )
    if not (panel.open and films):
        return
    with panel, popovers.content("share"):
        st.markdown(f"**{words.LINK}**")
        st.code(link(), language=None, wrap_lines=True)
        st.caption(words.SHARE_HELP)
        if answer and answer.picks:
            st.markdown(f"**{words.PICTURE}**")
            show_picture(dataset, films, answer)
        st.markdown(f"**{words.FILES}**")
        with st.container(horizontal=True, gap="small"):
            files(dataset, films, answer)
        st.caption(words.FILES_HELP)


def link() -> str:
    """The address that brings all of this back."""
    page = (st.context.url or "").partition("?")[0]
    return f"{page}?{urlencode(sequence.address())}"


def show_picture(dataset: Dataset, films: tuple[int, ...], answer: Answer) -> None:
    """The picture, small, and the button that saves it."""
    known, model = dataset.catalog.films, loaders.title(answer.predictor)
    picks = [
        (pick.film, "" if pick.probability is None else answer.figure(pick.probability))
        for pick in answer.picks[: picture.NEXT]
    ]
    made = drawn([known[film] for film in films], picks, sentences(len(films), model))
    titles = ", ".join(film.label for film, _ in picks)
    st.image(made, width="stretch", alt=words.PICTURE_ALT.format(model=model, films=titles))
    st.download_button(
        words.PICTURE_SAVE,
        made,
        "nextreel.png",
        "image/png",
        key="file-picture",
        icon=":material/image:",
        type="tertiary",
        on_click="ignore",
    )
    st.caption(words.PICTURE_HELP)


@st.cache_data(max_entries=32, show_spinner=False)
def drawn(films: list[Film], picks: list[tuple[Film, str]], said: picture.Words) -> bytes:
    """`picture.png`, kept."""
    return picture.png(films, picks, said, download.fonts())


def sentences(n_films: int, model: str) -> picture.Words:
    """What the picture says in the visitor's language."""
    earlier = n_films - picture.WATCHED
    return picture.Words(
        watched=words.PICTURE_YOURS,
        earlier=words.PICTURE_MORE.format(n=earlier) if earlier > 0 else "",
        next=words.PICTURE_NEXT,
        by=words.PICTURE_BY.format(model=model),
        link=link(),
    )


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
