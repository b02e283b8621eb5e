"""NextReel in the browser: the frame, the page that was asked for, and the watch sequence that all pages share."""

from pages import _sequence as sequence
from pages import _shared as shared

shared.through_app()
sequence.seed()
shared.frame().run()
sequence.write_address()
