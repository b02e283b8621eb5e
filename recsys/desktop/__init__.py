"""The app as a desktop program: its server, its window and its entry in the menu of programs."""
