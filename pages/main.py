"""The script that Streamlit runs for every page: session, navigation, and the requested page."""

from pages.ui import browser, i18n, page, session, tour
from recsys import monitoring

tour.begin()  # before `session.load` can write the URL, because the tour starts only without URL parameters
session.load()
i18n.set_language()
requested_page = page.navigation()
tour.panel(requested_page)
with monitoring.timed("page", requested_page.url_path or "watch_next"):
    requested_page.run()
# After all widgets: the announcement for screen readers, and the keyboard focus that callbacks requested. A fragment
# also calls `place_focus`, with another key.
browser.place_announcement()
browser.place_focus("focus-keeper-page")
i18n.language_menu()
session.write_url()
