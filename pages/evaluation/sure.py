"""How sure recommenders are of the first films of one person's list. The only part of Evaluation that runs models."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, person, words
from pages.evaluation.charts import confidence as charts
from pages.evaluation.measured import Shown
from pages.ui import cache, format
from pages.ui.charts import chart
from pages.ui.i18n import _, ngettext
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.evaluation import list_metrics, protocols, tables
from recsys.evaluation.tables import HeldOutUser
from recsys.serving.predictor import is_there

OF_THE_PAPER = ("sasrec-bce", "gsasrec", "sasrec-softmax", "bert4rec")  # three of its figure, and what the app is about
NUMBER = 963  # the person of that figure


def show(shown: Shown, known: list[str]) -> None:
    """A person to choose, and the probabilities by rank; known: recommenders whose scores are probabilities."""
    st.header(_("How sure of one person's list"))
    there = [variant for variant in known if is_there(variant, shown.dataset)]
    if not there:
        st.caption(
            _(
                "None of these recommenders is on this machine for {data}, so there is no list to look at.",
                data=cache.dataset_title(shown.dataset),
            )
        )
        return
    dataset = measured.data_of(shown)
    served = protocols.get(datasets.serving_split(dataset.name).protocol)
    test = served.split(dataset).test
    st.caption(
        _(
            "The first hundred films of one person's list, with the probability that each recommender "
            "gives them; all axes are logarithmic. It is figure 1 of the gSASRec paper "
            "(arXiv:2308.07192) for the recommenders of this app. In the paper SASRec, trained with one "
            "negative (BCE), is all but certain of every film, and gSASRec is not."
        )
    )
    if protocols.get_or_former(shown.protocol).splitting != served.splitting:
        st.caption(
            _(
                "On {data} this app has the recommenders of “{protocol}”, so lists and shares here are of "
                "that protocol.",
                data=cache.dataset_title(dataset.name),
                protocol=words.protocol(served.name),
            )
        )
    key = f"sure-person-{dataset.name}"
    st.session_state.setdefault(key, min(NUMBER, len(test)))
    row = person.choose(len(test), key)
    first = [variant for variant in there if variant in OF_THE_PAPER] or there[:4]
    chosen = choice.recommenders(shown, there, first, "sure")
    if not chosen:
        return
    shares = hidden_films(dataset, served.name, chosen)
    order = [*shares, *(variant for variant in chosen if variant not in shares)]  # so both charts have the same colours
    models = {variant: cache.load_predictor(variant, dataset.name).model for variant in order}
    lists = {
        variant: list_metrics.probabilities_by_rank(model, test.queries[row : row + 1])
        for variant, model in models.items()
    }
    values = [table[kind] for kind, tables in (("probability", lists), ("share", shares)) for table in tables.values()]
    lowest = float(pd.concat(values).min())
    with st.grid(2, min_column_width=320):
        with st.container():
            of_person(shown, dataset, tables.held_out_user(dataset, test, row), lists, lowest)
        if shares:
            with st.container():
                of_everybody(shown, shares, lowest)


def hidden_films(dataset: Dataset, protocol: str, chosen: list[str]) -> dict[str, pd.DataFrame]:
    """Variant → how often the hidden film stood at each rank, of those that were measured on these people."""
    board, _unused = measured.board(dataset.name, protocol)
    if board.empty:
        return {}
    of_app = Shown(dataset.name, protocol, board)
    ranks, _unused = measured.ranks(of_app)
    same = measured.comparable(of_app, dataset)
    return {variant: list_metrics.target_share_by_rank(ranks[variant]) for variant in chosen if variant in same}


def of_person(
    shown: Shown, dataset: Dataset, somebody: HeldOutUser, lists: dict[str, pd.DataFrame], lowest: float
) -> None:
    """The probabilities of one list, and what they add up to."""
    film = dataset.catalog.films[somebody.target].label
    st.markdown("**" + _("What the recommenders say") + "**")
    who = ngettext(
        "User {id} in the ratings file, with {n} film in the history.",
        "User {id} in the ratings file, with {n} films in the history.",
        len(somebody.history),
        id=somebody.user_id,
    )
    st.caption(format.escape_markdown(f"{who} " + _("A ring marks it: {film}.", film=film)))
    sums = ", ".join(
        _("{model} {sum:,.0%}", model=shown.title(variant), sum=table["probability"].sum())
        for variant, table in lists.items()
    )
    figure = charts.ringed(charts.by_rank(lists, shown.titles, "probability", lowest), lists, somebody.target)
    about = _(
        "Probability of each of the first hundred films of user {id} by rank, both axes logarithmic; "
        "given in all: {sums}",
        id=somebody.user_id,
        sums=sums,
    )
    films = [dataset.catalog.films[item].label for table in lists.values() for item in table["item"]]
    table = pd.concat([own.assign(variant=variant) for variant, own in lists.items()]).assign(film=films)
    chart(figure, about, table.drop(columns="item"), f"sure-of-list-{shown.dataset}-{somebody.user_id}")
    st.caption(
        format.escape_markdown(
            _(
                "One film comes next, so more than 100% cannot be right. The first hundred films are given "
                "in all: {sums}. A softmax shares 100% out over all films; with BCE and in gSASRec each film "
                "has a probability of its own.",
                sums=sums,
            )
        )
    )


def of_everybody(shown: Shown, shares: dict[str, pd.DataFrame], lowest: float) -> None:
    """How often the hidden film stood at each rank."""
    st.markdown("**" + _("What happened") + "**")
    st.caption(
        _(
            "At which rank the hidden film really stood: share of all test people for each rank, with "
            "neighbouring ranks taken together. A recommender that knows how sure it may be has the same "
            "heights in both charts, on average over people."
        )
    )
    figure = charts.by_rank(shares, shown.titles, "share", lowest)
    table = pd.concat([own.assign(variant=variant) for variant, own in shares.items()])
    names = shown.names(list(shares))
    chart(
        figure,
        _(
            "Share of people whose hidden film stood at a rank, by rank, both axes logarithmic, for {names}",
            names=names,
        ),
        table,
        f"stood-at-rank-{shown.dataset}",
    )
