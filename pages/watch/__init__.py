"""Watch next: build a watch sequence and see what comes next."""
