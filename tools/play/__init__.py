"""Plays a log onto LCM."""
