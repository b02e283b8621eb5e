"""What a machine does with this project, in seconds and megabytes."""
