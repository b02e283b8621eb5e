"""What the page Train is made of."""
