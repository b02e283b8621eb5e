"""Studies: the same training many times with one thing changed, and what comes of it in one table and one picture.

`trials` trains and measures; `plans` says what a study is; `sweeps`, `ablations` and `comparisons` list them.
"""
