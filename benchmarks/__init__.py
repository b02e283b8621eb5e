"""Scripts that time us, against others and against bars; see README.md."""
