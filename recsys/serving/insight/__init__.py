"""What is behind a recommendation: why, what if, what the network looks at."""
