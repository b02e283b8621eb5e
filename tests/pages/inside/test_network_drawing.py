from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import pages
from pages.inside.network_drawing import PARTS, WIDTH, NetworkDrawing
from pages.ui.charts import ACCENT

SVG = "{http://www.w3.org/2000/svg}"


def network(n=4, layers=2, *, weights=None, highlighted=PARTS, has_position_embeddings=False, has_projection=False):
    labels = ["Alien (1979)", "Fast & Furious (2001)", "<b> (1999)", "[mask]"][-n:]
    weights = np.full((layers, 2, n, n), 1 / n) if weights is None else weights
    attention = SimpleNamespace(labels=labels, weights=weights)
    lesson = SimpleNamespace(
        values=SimpleNamespace(attention=attention, n_items=6135),
        n_layers=layers,
        n_heads=2,
        top_unwatched_title="Heat (1995)",
        has_position_embeddings=has_position_embeddings,
        has_projection=has_projection,
    )
    return NetworkDrawing(lesson, highlighted).svg()


def parse(picture):
    return ElementTree.fromstring(picture)


def texts(picture):
    return [text.text for text in parse(picture).iter(f"{SVG}text")]


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("layers", [1, 2, 5])
def test_every_size_of_network_is_a_picture_inside_its_frame(n, layers):
    root = parse(network(n, layers))
    height = float(root.get("height"))
    for box in root.iter(f"{SVG}rect"):
        assert 0 <= float(box.get("x")) <= float(box.get("x")) + float(box.get("width")) <= WIDTH
        assert 0 <= float(box.get("y")) <= float(box.get("y")) + float(box.get("height")) <= height
    assert all(0 <= float(text.get("y")) <= height for text in root.iter(f"{SVG}text"))


def test_it_names_the_films_the_answer_and_the_layers_that_are_not_drawn():
    labels = texts(network(layers=5))
    assert {"Alien", "<b>", "[mask]", "Heat", "… and 3 more"} <= set(labels)
    assert "+ bias for distance" in labels


def test_what_the_paper_has_and_this_network_has_not_is_dashed():
    def dashes(picture):
        return picture.count("stroke-dasharray")

    ours = network()
    papers = network(has_position_embeddings=True, has_projection=True)
    assert dashes(ours) - dashes(papers) == 4 + 1  # a position for each token, the projection
    assert "+ bias for distance" not in texts(papers)


def test_the_part_of_a_step_stands_out():
    whole = network()
    part = network(highlighted=("attention",))
    assert 'opacity="0.45"' not in whole
    faint = [group for group in parse(part).iter(f"{SVG}g") if group.get("opacity") == "0.45"]
    assert faint
    bright = [text.text for text in parse(part).iter(f"{SVG}text")]
    for group in faint:
        assert not any(path.get("stroke-opacity") for path in group.iter(f"{SVG}path"))  # the lines of attention
    assert bright == texts(whole)  # nothing is left out


def test_the_stronger_the_attention_the_thicker_the_line():
    weights = np.array([[[[0.9, 0.1], [0.5, 0.5]]]])  # one layer with one head
    root = parse(network(n=2, layers=1, weights=weights))
    widths = [float(path.get("stroke-width")) for path in root.iter(f"{SVG}path") if path.get("stroke-opacity")]
    assert widths[0] > widths[2] == widths[3] > widths[1]


def test_the_browser_chooses_the_colour_of_words_and_arrows():
    picture = network()
    assert "prefers-color-scheme: dark" in parse(picture).find(f"{SVG}style").text
    assert parse(picture).get("fill") == "currentColor"
    words_and_arrows = [*parse(picture).iter(f"{SVG}text"), *parse(picture).iter(f"{SVG}path")]
    colours = {element.get("stroke") for element in words_and_arrows} - {None, ACCENT}
    assert colours == {"currentColor"}


def test_no_page_reads_the_theme_on_the_server():
    """A change of the theme starts no run, so that the colours of the old theme would stay."""
    scripts = Path(pages.__file__).parent.rglob("*.py")
    assert not [script.name for script in scripts if "context.theme" in script.read_text("utf-8")]
