"""Inside the model: what the network does with the visitor's films."""
