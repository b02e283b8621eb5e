"""Raw ratings in, sorted histories out."""
