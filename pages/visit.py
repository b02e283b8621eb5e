"""NextReel in the browser: the frame, the page that was asked for, and the watch sequence that all pages share."""

from pages.shared import sequence, tour
from pages.shared.frame import frame

tour.begin()  # a visit without an address is a first one, so before an address is written
sequence.seed()
page = frame()
tour.panel(page)
page.run()
sequence.write_address()
