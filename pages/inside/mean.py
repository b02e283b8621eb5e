"""Mean attention: the pictures of the SASRec and BERT4Rec papers, over many people of the data set."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pages.inside import charts, mean_charts, offered, words
from pages.inside.attention import name_of
from pages.inside.step import head_name, one_of
from pages.ui import download, errors, loaders, recommenders
from pages.ui import words as common
from pages.ui.i18n import localised
from recsys.data.dataset import Dataset
from recsys.serving.insight import genre_attention, mean_attention
from recsys.serving.insight.genre_attention import GenreAttention
from recsys.serving.insight.mean_attention import MeanAttention
from recsys.serving.predictor import Predictor

AT_MOST = 4  # squares beside each other
FIRST_GENRES = ("Sci-Fi", "Romance", "Animation", "Horror")  # the paper's, in its order


@dataclass(frozen=True)
class Found:
    """What is drawn."""

    mean: MeanAttention
    genres: GenreAttention


@st.fragment
@errors.explained()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """By position, then by genre; the visitor's films take no part."""
    name = offered.choose(offered.attending(), dataset.name, "attending", width=230)
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    with st.spinner(words.MEAN_READING.format(n=mean_attention.PEOPLE)):
        found = _found(predictor)
    data, least = loaders.data_title(dataset.name), found.mean.newest
    st.markdown(words.MEAN_HELP.format(n=found.mean.people, data=data, least=least))
    positions(predictor, found.mean)
    genres(predictor, found.genres)


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=loaders.BY_KEY)
def _found(predictor: Predictor) -> Found:
    """Two seconds on a machine of two cores."""
    read = mean_attention.sequences(predictor)
    return Found(mean_attention.mean(read), genre_attention.between_genres(read, predictor.dataset.catalog))


def positions(predictor: Predictor, found: MeanAttention) -> None:
    """A square for each head."""
    st.header(words.MEAN_POSITIONS.format(n=found.newest))
    st.caption(f"{words.MEAN_READ} {words.MEAN_MASK if found.by_mask else words.MEAN_LAST}")
    last, within = last_row(found), found.within()
    with st.grid(AT_MOST, min_column_width=230):
        for layer, head in np.ndindex(within.shape[:2]):
            name = head_name(layer, head)
            most, row = common.percent(found.weights[layer, head].max()), last[name].drop(words.FURTHER_BACK)
            first = mean_charts.position(str(row.idxmax()))
            said = {"n": found.newest, "model": loaders.title(predictor), "head": name}
            about = words.MEAN_CHART.format(**said, position=first, share=common.percent(row.max()))
            with st.container(gap="xsmall"):
                st.markdown(f"**{name}**")
                st.caption(words.MEAN_PANEL.format(most=most, within=common.percent(within[layer, head, -1])))
                figure = mean_charts.square(found, layer, head)
                st.plotly_chart(localised(figure), alt=about, config=charts.STILL, key=f"mean-{layer}-{head}")
    st.caption(words.MEAN_WITHIN)
    charts.as_table(last.map(common.percent), words.MEAN_TABLE, "mean")
    download.csv(found.table(), f"mean-attention-{name_of(predictor)}")


def last_row(found: MeanAttention) -> pd.DataFrame:
    """What the last position attends to, the newest first, and what is further back; a column for each head."""
    heads = list(np.ndindex(found.weights.shape[:2]))
    table = pd.DataFrame(
        {head_name(*at): found.weights[at][-1, ::-1] for at in heads},
        index=pd.Index(found.labels[::-1], name=words.POSITION),
    )
    table.loc[words.FURTHER_BACK] = 1 - table.sum()
    return table


def genres(predictor: Predictor, found: GenreAttention) -> None:
    """A square for each layer."""
    st.header(words.GENRES_ATTEND)
    st.caption(words.GENRES_HELP)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        everything = st.session_state.get("mean-all-genres", False)
        chosen = choose(found, everything)
        st.toggle(words.ALL_GENRES, key="mean-all-genres", persist_state="session")
        head = one_of("head", found.observed.shape[2])
    if len(chosen) < 2:
        st.info(words.CHOOSE_GENRES)
        return
    layers = range(found.observed.shape[1])
    tables = [found.table(chosen, layer, head) for layer in layers]
    strongest = mean_charts.strongest(tables)
    with st.grid(2, min_column_width=300):
        for layer, table in zip(layers, tables, strict=True):
            with st.container():
                name = words.LAYER_N.format(n=layer + 1)
                st.subheader(name)
                figure = mean_charts.between_genres(table, strongest, st.context.theme.type == "dark")
                alt = about_genres(predictor, table, name)
                st.plotly_chart(localised(figure), alt=alt, config=charts.STILL, key=f"genres-{layer}")
                charts.as_table(as_square(table), words.GENRES_TABLE.format(layer=name), f"genres-{layer}")
    st.caption(words.GENRES_SURE.format(n=genre_attention.FEWEST, kept=mean_attention.KEPT))
    numbered = pd.concat(table.assign(layer=layer + 1) for layer, table in zip(layers, tables, strict=True))
    download.csv(numbered, f"genre-attention-{name_of(predictor)}")


def choose(found: GenreAttention, everything: bool) -> list[str]:
    """Some of the genres, in the order in which they were chosen, or all of them."""
    first = [genre for genre in FIRST_GENRES if genre in found.genres]
    chosen = st.multiselect(
        words.GENRES,
        found.genres,
        select_all=False,
        default=first if len(first) > 1 else found.genres[:4],
        key=f"mean-genres-{len(found.genres)}",
        format_func=common.term,
        width=480,
        wrap=True,
        disabled=everything,
        persist_state="session",
    )
    return list(found.genres) if everything else chosen


def as_square(table: pd.DataFrame) -> pd.DataFrame:
    """`GenreAttention.table` with a row for each genre that attends, a column for each attended to."""
    genres = list(dict.fromkeys(table["from"]))
    times = table["times"].to_numpy().reshape(len(genres), -1)
    names = [common.term(genre) for genre in genres]
    square = pd.DataFrame(times, pd.Index(names, name=words.WHO_ATTENDS), names)
    return square.map(lambda times: words.TIMES_UNKNOWN if np.isnan(times) else words.TIMES.format(times=times))


def about_genres(predictor: Predictor, table: pd.DataFrame, layer: str) -> str:
    """A chart in words."""
    own = table["from"] == table["to"]
    same, other = (words.TIMES.format(times=table.loc[rows, "times"].median()) for rows in (own, ~own))
    return words.GENRES_CHART.format(layer=layer, model=loaders.title(predictor), same=same, other=other)
