"""MovieLens titles as people write them: "Matrix, The (1999)" is "The Matrix" of 1999."""

import re

_ARTICLES = (  # those that MovieLens moves behind a comma, by language
    *("The", "the", "A", "An"),
    *("La", "Le", "Les", "L'", "Une", "Un"),
    *("El", "Los", "Las", "Una", "Os", "As", "O"),
    *("Il", "Lo", "I", "Gli"),
    *("Der", "Die", "Das", "Ein", "Eine"),
    *("De", "Den", "Det", "En", "Ett", "Het"),
)
LONGEST = 300  # characters of a title that are kept; the longest of MovieLens has fewer than 200
# A year, or the first of a span ("2006-2007"), then perhaps "(V)" or "(TV)"; one title of ML-25M ends in "))".
_YEAR = re.compile(r"\((\d{4})(?: ?[-–] ?(?:\d{4})?)?\)+ ?(?:\((?:V|TV)\))?$")
_MOVED = re.compile(rf"^([^()]+), ({'|'.join(_ARTICLES)})(?= ?(?:\(|$))")


def title_and_year(raw: str) -> tuple[str, int | None]:
    """Split a MovieLens title and put its article in front; alternative titles in brackets stay as they are.

    Of a longer title the first LONGEST characters count, so that no text takes long.

    "City of Lost Children, The (Cité des enfants perdus, La) (1995)" gives
    ("The City of Lost Children (Cité des enfants perdus, La)", 1995). Without a year: (title, None).
    """
    whole = " ".join(raw.split())[:LONGEST].rstrip()
    found = _YEAR.search(whole)
    title = whole[: found.start()].rstrip() if found else whole
    return _MOVED.sub(_article_first, title), int(found.group(1)) if found else None


def _article_first(match: re.Match[str]) -> str:
    name, article = match.groups()
    gap = "" if article.endswith("'") else " "
    return f"{article[0].upper()}{article[1:]}{gap}{name}"
