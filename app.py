"""NextReel in the browser: the frame, the page that was asked for, and the watch sequence that all pages share."""

from pages.shared import sequence
from pages.shared.frame import frame

sequence.seed()
frame().run()
sequence.write_address()
