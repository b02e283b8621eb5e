"""What a person sees: a package for each page, and `shared` for what they have in common."""
