import pytest

from pages.shared import cards, words
from recsys.data.schema import Film
from recsys.serving.recommend import Recommendation

SCRIPT = "<script>alert('1')</script> & \"Co\""


def pick(probability=0.02, title="Heat", rank=1):
    return Recommendation(rank, 5, Film(6, title, 1995, "Crime|Drama"), 1.5, probability)


@pytest.mark.parametrize(
    "html",
    [
        cards.card(pick(title=SCRIPT), 0.02),
        cards.line(1, pick(title=SCRIPT).film, 0.02, 0.02),
        cards.watched(1, Film(6, SCRIPT, None, SCRIPT), latest=True),
        cards.column([pick(title=SCRIPT)], {5: 1}, 2),
    ],
)
def test_titles_are_text_not_html(html):
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert '"Co"' not in html


def test_a_card_tells_a_screen_reader_title_year_and_genres():
    assert 'alt="Heat (1995). Crime, Drama"' in cards.card(pick(), 0.02)


def test_bars_are_relative_to_the_first_film_and_figures_are_not():
    html = cards.card(pick(0.01), best=0.04)
    assert "width:25.0%" in html
    assert ">1.0%<" in html


def test_there_is_no_bar_without_a_probability():
    assert "nr-bar" not in cards.card(pick(None), None)


@pytest.mark.parametrize(("probability", "text"), [(0.5, "50.0%"), (0.0123, "1.2%"), (0.0004, "<0.1%"), (0.0, "<0.1%")])
def test_percentages_are_short(probability, text):
    assert words.percent(probability) == text


def test_signs_of_markdown_are_escaped():
    assert words.plain("M*A*S*H [1970] :red[x] $9") == r"M\*A\*S\*H \[1970\] \:red\[x\] \$9"
    assert words.plain("Amélie 八月") == "Amélie 八月"


@pytest.mark.parametrize(
    ("rank", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (22, "22nd"), (1113, "1,113th")]
)
def test_ranks_are_said_as_in_a_sentence(rank, said):
    assert words.ordinal(rank) == said
