"""What Library says."""

SECTION = "What to see"
SECTIONS = {"browse": "Browse", "statistics": "Statistics", "together": "Watch together"}

# Browse
TITLE = "Search by title"
ORDER = "Order"
ORDERS = {
    "most watched": "Most watched",
    "best rated": "Best rated",
    "newest": "Newest",
    "oldest": "Oldest",
    "title": "Title",
}
ORDER_HELP = (
    "Best rated: the mean of the stars, as if {n} more people had rated like all people, so that five stars of one "
    "person do not come first. What a search found stands in the order in which it fits."
)
TAGS, TAGS_HINT = "Tagged", "Any tag"
TAGS_HELP = "Only films with all of these tags. You can type any tag; of {all}, those of most films are offered."
COUNT = {
    "all": "{n} films",
    "some": "{n} of {all} films",
    "one": "1 of {all} films",
    "none": "None of the {all} films passes all of this.",
}
TO_LIST = {
    0: "Your list is empty: add a film to see what comes next",
    1: "See what comes next after your film",
    2: "See what comes next after your {n} films",
}
WATCHED, WATCHED_ONE = "{n} people", "1 person"
STARS = "{mean:.1f} stars"
UNLEARNT = {1: "Nobody’s ratings", 2: "Under {n} ratings"}
UNLEARNT_HELP = {
    1: "Recommenders know only films that somebody rated. You can put the others into your list all the same: the film "
    "most like each of them stands in for it.",
    2: "Recommenders do not know films with fewer than {n} ratings, whose ratings are not kept. You can put them into "
    "your list all the same: the film most like each of them stands in for it.",
}
ADD, REMOVE = "Add *{film} to your films*", "In your list *{film}: take it out again*"
