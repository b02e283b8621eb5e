"""One script per system, which runs in the environment of the system. task.py has their common code."""
