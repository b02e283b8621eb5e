"""What the order of the films does to each recommender's list: a tab of Compare."""

import streamlit as st

from pages import _cards as cards
from pages import _compare_ask as ask
from pages import _compare_html as html
from pages import _download as download
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving import history, order
from recsys.serving.models import Recommender, Variant
from recsys.serving.recommend import recommend_many

Moves = dict[str, order.Moved]  # by the title of the recommender
MOOD_FILMS = 5  # films of each answer in the demonstration


def what_order_does(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant], k: int) -> None:
    """The visitor's films in other orders, then the demonstration with two moods."""
    if orders := order.reorderings(films):
        own(dataset, films, chosen, k, orders)
    else:
        st.info(words.ONE_HAS_NO_ORDER, icon=":material/playlist_add:")
    panel = st.expander(words.MOODS, icon=":material/pets:", on_change="rerun", key="moods")
    with panel:
        if panel.open:
            moods(dataset, chosen)


def own(dataset: Dataset, films: tuple[int, ...], chosen: list[Variant], k: int, orders: list[order.Order]) -> None:
    """How far each list moves, in sentences and as a chart, and the lists themselves for any of the orders."""
    moved = ask.each(dataset, chosen, lambda variant, model: move(dataset, model, dataset.name, variant.name, films, k))
    if not moved:
        return
    st.markdown(summary(moved))
    st.html(html.moves(moved))
    st.caption(words.ORDER_HELP.format(n=len(orders) - 1, p=order.PATIENCE))
    names = [words.order_name(place + 1) for place in range(len(orders))]
    download.csv(order.table(moved, names), "order")
    panel = st.expander(words.WHICH_ORDER, icon=":material/shuffle:", on_change="rerun", key="which_order")
    with panel:
        if panel.open:
            lists(dataset, films, moved, orders)


@st.cache_data(max_entries=64, show_spinner=False)
def move(
    _dataset: Dataset, _model: Recommender, data: str, variant: str, films: tuple[int, ...], k: int
) -> order.Moved:
    """The lists for all orders; kept, so that the slider only picks one. `data`, `variant`: what they are kept by."""
    return order.move(_dataset, _model, films, order.reorderings(films), k)


def summary(moved: Moves) -> str:
    """Who does not mind the order, and who minds it most, as Markdown."""
    sentences = []
    if blind := [title for title, answer in moved.items() if answer.blind]:
        sentence = words.BLIND_ONE if len(blind) == 1 else words.BLIND_MANY
        sentences.append(sentence.format(models=words.listed(blind)))
    if len(blind) < len(moved):
        title, answer = min(moved.items(), key=lambda item: item[1].overlap)
        kept = words.mean(answer.mean_kept)
        sentences.append(words.MOST_MOVED.format(model=words.listed([title]), k=len(answer.first), kept=kept))
    return " ".join(sentences)


def lists(dataset: Dataset, films: tuple[int, ...], moved: Moves, orders: list[order.Order]) -> None:
    """A slider over the orders, and every list for the one chosen."""
    place = st.select_slider(
        words.ORDER_SLIDER,
        range(len(orders) + 1),
        value=1,
        format_func=words.order_name,
        key=f"order-of-{len(orders)}",
    )
    sequence.in_one_line(dataset, (films, *orders)[place])
    with st.grid("auto", min_column_width=260, gap=("large", "medium")):
        for title, answer in moved.items():
            with st.container(gap="small"):
                st.markdown(f"**{words.plain(title)}**")
                picks = (answer.first, *answer.others)[place]
                st.html(cards.reordered(picks, [pick.movie_id for pick in answer.first]))


def moods(dataset: Dataset, chosen: list[Variant]) -> None:
    """The slides' question, asked with films: the same two moods, once the one last and once the other."""
    st.markdown(" ".join(words.MOODS_STORY))
    pair = order.moods(history.examples(shared.title_index(dataset.name)))
    if pair is None:
        st.caption(words.NO_MOODS)
        return
    names = [name for name, _ in pair]
    histories = [films for _, films in pair]
    for name, films in pair:
        sequence.in_one_line(dataset, films, words.ENDS_IN.format(mood=name))
    answers = ask.each(dataset, chosen, lambda _, model: recommend_many(dataset, model, histories, MOOD_FILMS))
    st.html(html.moods(answers, names))
    with st.container(horizontal=True):
        for name, films in pair:
            label = words.TAKE_ORDER.format(mood=name)
            st.button(label, key=f"mood-{name}", icon=":material/playlist_add:", on_click=take, args=(films,))


def take(films: order.Order) -> None:
    """Make one of the two histories the visitor's own."""
    sequence.change(films)
    st.rerun()  # all of the page, not this tab alone
