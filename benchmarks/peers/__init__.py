"""The program of each system, which runs in the environment of the system. task.py has what they share."""
