"""Unit files of the robot's computer; `python -m tools.systemd` fills them in."""
