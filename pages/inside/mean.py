"""Mean attention: the pictures of the SASRec and BERT4Rec papers, over many people of the data set."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pages.inside import charts, mean_charts, offered
from pages.inside.attention import name_of
from pages.inside.step import head_name, one_of
from pages.ui import cache, errors, format, recommenders
from pages.ui import charts as ui_charts
from pages.ui.i18n import _, localised, ngettext
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
@errors.show_errors()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """By position, then by genre; the visitor's films take no part."""
    name = offered.choose(offered.attending(), dataset.name, "attending", width=230)
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    with st.spinner(
        ngettext("Reading the history of {n} person", "Reading the histories of {n} people", mean_attention.PEOPLE)
    ):
        found = _found(predictor)
    data, least = cache.dataset_title(dataset.name), found.mean.newest
    st.markdown(
        ngettext(
            "Your list says how a network reads *you*. Here its attention is averaged over {n} people of "
            "{data}, drawn at random from those who watched {least} films or more: the pictures of the "
            "papers ([SASRec](https://arxiv.org/abs/1808.09781), figures 4 and 5, "
            "[BERT4Rec](https://arxiv.org/abs/1904.06690), figure 2), drawn for the networks of this app.",
            "Your list says how a network reads *you*. Here its attention is averaged over {n} people of "
            "{data}, drawn at random from those who watched {least} films or more: the pictures of the "
            "papers ([SASRec](https://arxiv.org/abs/1808.09781), figures 4 and 5, "
            "[BERT4Rec](https://arxiv.org/abs/1904.06690), figure 2), drawn for the networks of this app.",
            found.mean.people,
            data=data,
            least=least,
        )
    )
    positions(predictor, found.mean)
    genres(predictor, found.genres)


@st.cache_resource(max_entries=12, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def _found(predictor: Predictor) -> Found:
    """Two seconds on a machine of two cores."""
    read = mean_attention.sequences(predictor)
    return Found(mean_attention.mean(read), genre_attention.between_genres(read, predictor.dataset.catalog))


def positions(predictor: Predictor, found: MeanAttention) -> None:
    """A square for each head."""
    st.header(
        ngettext(
            "How the newest {n} positions attend to each other",
            "How the newest {n} positions attend to each other",
            found.newest,
        )
    )
    st.caption(
        _(
            "A square for each head. Each row attends to the columns; 1 is the newest film, 2 the one "
            "before it, and so on. The stronger the colour, the more attention. Each square has a scale "
            "of its own, up to the share named above it."
        )
        + " "
        + (
            _("The framed row is `[mask]`, from which the next film is predicted. It is read from both sides.")
            if found.by_mask
            else _(
                "The framed row is the newest film, from which the next one is predicted. The upper right "
                "stays empty: no film attends to later ones."
            )
        )
    )
    last, within = last_row(found), found.within()
    with st.grid(AT_MOST, min_column_width=230):
        for layer, head in np.ndindex(within.shape[:2]):
            name = head_name(layer, head)
            most, row = format.percent(found.weights[layer, head].max()), last[name].drop(_("further back"))
            first = mean_charts.position(str(row.idxmax()))
            said = {"n": found.newest, "model": cache.recommender_title(predictor), "head": name}
            about = ngettext(
                "Mean attention of the newest {n} positions to each other in {model}, {head}; the position "
                "that predicts the next film attends most to {position}, with {share}",
                "Mean attention of the newest {n} positions to each other in {model}, {head}; the position "
                "that predicts the next film attends most to {position}, with {share}",
                found.newest,
                **said,
                position=first,
                share=format.percent(row.max()),
            )
            with st.container(gap="xsmall"):
                st.markdown(f"**{name}**")
                st.caption(
                    _("up to {most} · {within} within", most=most, within=format.percent(within[layer, head, -1]))
                )
                figure = mean_charts.square(found, layer, head)
                st.plotly_chart(localised(figure), alt=about, config=charts.STILL, key=f"mean-{layer}-{head}")
    st.caption(
        _(
            "Nothing is rescaled: what falls on films further back is left out. “Within” says how much "
            "of the framed row's attention is drawn here."
        )
    )
    charts.as_table(last.map(format.percent), _("what the framed row attends to, by head"), "mean")
    ui_charts.download_buttons(found.table(), f"mean-attention-{name_of(predictor)}")


def last_row(found: MeanAttention) -> pd.DataFrame:
    """What the last position attends to, the newest first, and what is further back; a column for each head."""
    heads = list(np.ndindex(found.weights.shape[:2]))
    table = pd.DataFrame(
        {head_name(*at): found.weights[at][-1, ::-1] for at in heads},
        index=pd.Index(found.labels[::-1], name=_("Films back")),
    )
    table.loc[_("further back")] = 1 - table.sum()
    return table


def genres(predictor: Predictor, found: GenreAttention) -> None:
    """A square for each layer."""
    st.header(_("Attention between genres"))
    st.caption(
        _(
            "Do films attend to films of their own kind? Each row attends to the columns: 1.2× is a "
            "fifth more attention from a film of one genre to one of the other than if the network "
            "looked at nothing but how far apart they stand. A film's attention to itself is not counted."
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        everything = st.session_state.get("mean-all-genres", False)
        chosen = choose(found, everything)
        st.toggle(_("All genres"), key="mean-all-genres", persist_state="session")
        head = one_of("head", found.observed.shape[2])
    if len(chosen) < 2:
        st.info(_("Choose at least two genres."))
        return
    layers = range(found.observed.shape[1])
    tables = [found.table(chosen, layer, head) for layer in layers]
    strongest = mean_charts.strongest(tables)
    with st.grid(2, min_column_width=300):
        for layer, table in zip(layers, tables, strict=True):
            with st.container():
                name = _("Layer {n}", n=layer + 1)
                st.subheader(name)
                figure = mean_charts.between_genres(table, strongest, st.context.theme.type == "dark")
                alt = about_genres(predictor, table, name)
                st.plotly_chart(localised(figure), alt=alt, config=charts.STILL, key=f"genres-{layer}")
                charts.as_table(
                    as_square(table), _("attention between genres in {layer}", layer=name), f"genres-{layer}"
                )
    st.caption(
        _(
            "Coloured where 1× lies outside the 95% interval over people; empty where fewer than {n} "
            "people have watched such a pair. Counted among the newest {kept} positions. From the second "
            "layer on, a position holds some of the films that it attended to before, so its genre is "
            "less clear-cut.",
            n=genre_attention.FEWEST,
            kept=mean_attention.KEPT,
        )
    )
    numbered = pd.concat(table.assign(layer=layer + 1) for layer, table in zip(layers, tables, strict=True))
    ui_charts.download_buttons(numbered, f"genre-attention-{name_of(predictor)}")


def choose(found: GenreAttention, everything: bool) -> list[str]:
    """Some of the genres, in the order in which they were chosen, or all of them."""
    first = [genre for genre in FIRST_GENRES if genre in found.genres]
    chosen = st.multiselect(
        _("Genres"),
        found.genres,
        select_all=False,
        default=first if len(first) > 1 else found.genres[:4],
        key=f"mean-genres-{len(found.genres)}",
        format_func=format.display_tag,
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
    names = [format.display_tag(genre) for genre in genres]
    square = pd.DataFrame(times, pd.Index(names, name=_("Attends …")), names)
    return square.map(lambda times: _("too few people") if np.isnan(times) else _("{times:.2f}×", times=times))


def about_genres(predictor: Predictor, table: pd.DataFrame, layer: str) -> str:
    """A chart in words."""
    own = table["from"] == table["to"]
    same, other = (_("{times:.2f}×", times=table.loc[rows, "times"].median()) for rows in (own, ~own))
    return _(
        "Attention from films of one genre to films of another in {layer} of {model}, relative to "
        "distance alone: within their own genre {same}, between different ones {other} in the middle",
        layer=layer,
        model=cache.recommender_title(predictor),
        same=same,
        other=other,
    )
