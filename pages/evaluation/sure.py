"""How sure recommenders are of the first films of one person's list. The only part of Evaluation that runs models."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, person, words
from pages.evaluation.charts import confidence as charts
from pages.evaluation.measured import Shown
from pages.ui import loaders
from pages.ui import words as common
from pages.ui.charts import chart
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.evaluation import list_metrics, protocols, tables
from recsys.evaluation.tables import HeldOutUser
from recsys.serving.predictor import is_there

OF_THE_PAPER = ("sasrec-bce", "gsasrec", "sasrec-softmax", "bert4rec")  # three of its figure, and what the app is about
NUMBER = 963  # the person of that figure


def show(shown: Shown, known: list[str]) -> None:
    """A person to choose, and the probabilities by rank; known: recommenders whose scores are probabilities."""
    st.header(words.SURE_OF_LIST)
    there = [variant for variant in known if is_there(variant, shown.dataset)]
    if not there:
        st.caption(words.NOT_THERE.format(data=loaders.data_title(shown.dataset)))
        return
    dataset = measured.data_of(shown)
    served = protocols.get(datasets.serving_split(dataset.name).protocol)
    test = served.split(dataset).test
    st.caption(words.SURE_OF_LIST_HELP)
    if protocols.get_or_former(shown.protocol).splitting != served.splitting:
        st.caption(words.OF_THE_APP.format(data=loaders.data_title(dataset.name), protocol=words.protocol(served.name)))
    key = f"sure-person-{dataset.name}"
    st.session_state.setdefault(key, min(NUMBER, len(test)))
    row = person.choose(len(test), key)
    first = [variant for variant in there if variant in OF_THE_PAPER] or there[:4]
    chosen = choice.recommenders(shown, there, first, "sure")
    if not chosen:
        return
    shares = hidden_films(dataset, served.name, chosen)
    order = [*shares, *(variant for variant in chosen if variant not in shares)]  # so both charts have the same colours
    models = {variant: loaders.predictor(variant, dataset.name).model for variant in order}
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
    board, _ = measured.board(dataset.name, protocol)
    if board.empty:
        return {}
    of_app = Shown(dataset.name, protocol, board)
    ranks, _ = measured.ranks(of_app)
    same = measured.comparable(of_app, dataset)
    return {variant: list_metrics.target_share_by_rank(ranks[variant]) for variant in chosen if variant in same}


def of_person(
    shown: Shown, dataset: Dataset, somebody: HeldOutUser, lists: dict[str, pd.DataFrame], lowest: float
) -> None:
    """The probabilities of one list, and what they add up to."""
    film = dataset.catalog.films[somebody.target].label
    st.markdown(f"**{words.GIVEN_TO_PERSON}**")
    who = words.PERSON_OF.format(id=somebody.user_id, n=len(somebody.history))
    st.caption(common.plain(f"{who} {words.RINGED.format(film=film)}"))
    sums = ", ".join(
        words.IN_ALL.format(model=shown.title(variant), sum=table["probability"].sum())
        for variant, table in lists.items()
    )
    figure = charts.ringed(charts.by_rank(lists, shown.titles, "probability", lowest), lists, somebody.target)
    about = words.GIVEN_ALT.format(id=somebody.user_id, sums=sums)
    films = [dataset.catalog.films[item].label for table in lists.values() for item in table["item"]]
    table = pd.concat([own.assign(variant=variant) for variant, own in lists.items()]).assign(film=films)
    chart(figure, about, table.drop(columns="item"), f"sure-of-list-{shown.dataset}-{somebody.user_id}")
    st.caption(common.plain(words.ADD_UP.format(sums=sums)))


def of_everybody(shown: Shown, shares: dict[str, pd.DataFrame], lowest: float) -> None:
    """How often the hidden film stood at each rank."""
    st.markdown(f"**{words.STOOD_AT_RANK}**")
    st.caption(words.STOOD_HELP)
    figure = charts.by_rank(shares, shown.titles, "share", lowest)
    table = pd.concat([own.assign(variant=variant) for variant, own in shares.items()])
    names = shown.names(list(shares))
    chart(figure, words.STOOD_ALT.format(names=names), table, f"stood-at-rank-{shown.dataset}")
