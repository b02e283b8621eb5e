"""NextReel in the browser: the frame, the page that was asked for, and the watch sequence that all pages share."""

from pages.shared import announce, keyboard, language, sequence, tour
from pages.shared.frame import frame
from recsys import monitoring

tour.begin()  # a visit without an address is a first one, so before an address is written
sequence.seed()
language.begin()
page = frame()
tour.panel(page)
with monitoring.timed("page", page.url_path or "watch_next"):
    page.run()
announce.place()
keyboard.place("focus-keeper-page")
language.switch()
sequence.write_address()
