import pytest

from pages.ui import explanation, film_cards, format
from recsys.data.dataset import Film
from recsys.data.film_details import FilmDetails
from recsys.serving.recommend import Recommendation

SCRIPT = "<script>alert('1')</script> & \"Co\""


def pick(probability=0.02, title="Heat", rank=1):
    return Recommendation(rank, 5, Film(6, title, 1995, "Crime|Drama"), 1.5, probability)


@pytest.mark.parametrize(
    "html",
    [
        film_cards.card(pick(title=SCRIPT), 0.02),
        film_cards.row(1, pick(title=SCRIPT).film, 0.02, 0.02),
        film_cards.watched_row(1, Film(6, SCRIPT, None, SCRIPT), is_latest=True),
        film_cards.compared_list([pick(title=SCRIPT)], {5: 1}, 2),
    ],
)
def test_titles_are_text_not_html(html):
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert '"Co"' not in html


def test_a_card_tells_a_screen_reader_title_year_and_genres():
    assert 'alt="Heat (1995). Crime, Drama"' in film_cards.card(pick(), 0.02)


def test_bars_are_relative_to_the_first_film_and_figures_are_not():
    html = film_cards.card(pick(0.01), full_bar=0.04)
    assert "width:25.0%" in html
    assert ">1.0%<" in html


def test_there_is_no_bar_without_a_probability():
    assert "nr-bar" not in film_cards.card(pick(None), None)


@pytest.mark.parametrize(("probability", "text"), [(0.5, "50.0%"), (0.0123, "1.2%"), (0.0004, "<0.1%"), (0.0, "<0.1%")])
def test_percentages_are_short(probability, text):
    assert format.percent(probability) == text


def test_signs_of_markdown_are_escaped():
    assert format.escape_markdown("M*A*S*H [1970] :red[x] $9") == r"M\*A\*S\*H \[1970\] \:red\[x\] \$9"
    assert format.escape_markdown("Amélie 八月") == "Amélie 八月"


@pytest.mark.parametrize(
    ("rank", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (22, "22nd"), (1113, "1,113th")]
)
def test_ranks_are_said_as_in_a_sentence(rank, said):
    assert format.ordinal(rank) == said


def test_who_made_a_film_stands_on_its_card_and_in_its_row_as_text():
    for html in (
        film_cards.card(pick(), 0.02, credits_text=f"2 h · {SCRIPT}"),
        film_cards.row(1, pick().film, 0.02, 0.02, credits_text=SCRIPT),
    ):
        assert "&lt;script&gt;" in html
        assert "<script" not in html
    assert "1995 · Crime, Drama · Ann Lee" in film_cards.row(1, pick().film, 0.02, 0.02, credits_text="Ann Lee")


def test_a_card_keeps_the_place_where_it_is_not_known_and_has_none_where_nothing_is():
    assert '<div class="nr-quiet nr-made"></div>' in film_cards.card(pick(), 0.02, credits_text="")
    assert "nr-made" not in film_cards.card(pick(), 0.02)
    assert film_cards.row(1, pick().film, 0.02, 0.02, credits_text="") == film_cards.row(1, pick().film, 0.02, 0.02)


@pytest.mark.parametrize(
    ("minutes", "said"), [(None, ""), (5, "5 min"), (59, "59 min"), (60, "1 h 0 min"), (136, "2 h 16 min")]
)
def test_a_length_is_said_in_hours_and_minutes(minutes, said):
    assert format.running_time(minutes).replace("\u00a0", " ") == said


def test_what_is_known_of_a_film_is_said_in_lines_and_the_rest_left_out():
    known = FilmDetails(directors=("A", "B"), countries=("France",), minutes=90)
    assert explanation.film_facts(known) == [
        ("Directed by", "A, B"),
        ("Made in", "France"),
        ("Length", "1\u00a0h\u00a030\u00a0min"),
    ]
    assert explanation.film_facts(FilmDetails()) == []
    assert format.credits_line(known) == "1\u00a0h\u00a030\u00a0min · A, B"
    assert format.credits_line(FilmDetails()) == ""


def test_genres_of_the_data_are_shown_by_their_titles():
    assert format.display_genres("Children|Film-Noir|Sci-Fi") == "Children's, Film noir, Sci-Fi"
    assert [format.display_group(name) for name in ("Film-Noir", "1990s")] == ["Film noir", "1990s"]
