"""Read files with the watched films of a visitor: exports of other services and of NextReel, and other CSV files."""
