"""Training jobs of the app: a queue on disk and a process that runs it."""
