"""The page Inside the model: the computations of a model with the visitor's films. One module per section."""
