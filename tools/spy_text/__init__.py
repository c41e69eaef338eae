"""Text spy: what is sent on an LCM URL, in a terminal or as a table."""
