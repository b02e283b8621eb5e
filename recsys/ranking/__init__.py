"""From scores to ranks, and from ranks to metrics."""
