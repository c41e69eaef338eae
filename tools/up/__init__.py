"""The supervisor of a robot's processes; `python -m tools.up`."""
