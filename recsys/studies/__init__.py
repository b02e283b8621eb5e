"""Studies: train recommenders with one setting changed at a time, and compare their metrics in a table and a chart."""
