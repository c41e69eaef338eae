"""MIT's channels from ours, and back for logs."""
