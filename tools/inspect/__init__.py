"""What is in a log, and where it is broken."""
