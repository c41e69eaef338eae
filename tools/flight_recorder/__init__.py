"""Keeps the last minute of all channels in memory and saves it when something goes wrong."""
