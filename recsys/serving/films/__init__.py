"""Finding and showing films: search, themes, links, posters."""
