"""Training runs that outlive a page: a queue on disk, and a process of its own that works it off."""
