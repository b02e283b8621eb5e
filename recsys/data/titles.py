"""Convert MovieLens titles to natural word order: "Matrix, The (1999)" → "The Matrix", 1999."""

import re

MAX_TITLE_LENGTH = 300  # characters; the longest title of MovieLens has fewer than 200
_ARTICLES = (  # articles that MovieLens writes after the name and a comma, by language
    *("The", "the", "A", "An"),
    *("La", "Le", "Les", "L'", "Une", "Un"),
    *("El", "Los", "Las", "Una", "Os", "As", "O"),
    *("Il", "Lo", "I", "Gli"),
    *("Der", "Die", "Das", "Ein", "Eine"),
    *("De", "Den", "Det", "En", "Ett", "Het"),
)
# a year, or the first year of a span ("2006-2007"), then optionally "(V)" or "(TV)"; one title of ML-25M ends in "))"
_YEAR = re.compile(r"\((\d{4})(?: ?[-–] ?(?:\d{4})?)?\)+ ?(?:\((?:V|TV)\))?$")
_TRAILING_ARTICLE = re.compile(rf"^([^()]+), ({'|'.join(_ARTICLES)})(?= ?(?:\(|$))")


def title_and_year(raw: str) -> tuple[str, int | None]:
    """Split a MovieLens title into title and year, move its article to the front, and cut it to MAX_TITLE_LENGTH.

    "City of Lost Children, The (Cité des enfants perdus, La) (1995)" becomes
    ("The City of Lost Children (Cité des enfants perdus, La)", 1995). The year is None if the title has none.
    """
    text = " ".join(raw.split())
    match = _YEAR.search(text)
    title = _TRAILING_ARTICLE.sub(_prepend_article, text[: match.start()].rstrip() if match else text)
    return title[:MAX_TITLE_LENGTH].rstrip(), int(match[1]) if match else None


def _prepend_article(match: re.Match[str]) -> str:
    """Return a match of _TRAILING_ARTICLE with the article before the name."""
    name, article = match.groups()
    gap = "" if article.endswith("'") else " "
    return f"{article[0].upper()}{article[1:]}{gap}{name}"
