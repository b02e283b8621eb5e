"""The page Train: the form of a new training, and the list of trainings with their curves."""
