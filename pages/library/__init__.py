"""The page Library: all films of a data set, its statistics, and films for two people."""
