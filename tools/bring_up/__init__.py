"""Bring-up of a robot's motors, step by step: `python -m tools.bring_up`. Guide: procs/bridge/BRING_UP.md."""
