"""The program of each system. It runs in the environment of the system. task.py contains the code that all share."""
