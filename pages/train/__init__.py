"""The parts of the page Train: the form for a new training, and the list of trainings with their curves."""
