"""Logs as CSV, npz, MAT or MCAP."""
