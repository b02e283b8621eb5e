"""The parts of the page Evaluation: one module per section, and the tables, charts and cached results they share."""
