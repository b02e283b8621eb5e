"""The app as a program of the desktop: its server, a window of its own, an entry in the menu of programs."""
