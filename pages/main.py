"""NextReel in the browser: the frame, the page that was asked for, and the watch sequence that all pages share."""

from pages.ui import announce, i18n, keyboard, session, tour
from pages.ui.frame import frame
from recsys import monitoring

tour.begin()  # a visit without an address is a first one, so before an address is written
session.seed()
i18n.begin()
page = frame()
tour.panel(page)
with monitoring.timed("page", page.url_path or "watch_next"):
    page.run()
announce.place()
keyboard.place("focus-keeper-page")
i18n.switch()
session.write_address()
