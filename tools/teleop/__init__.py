"""Drive the robot by hand: keyboard in a terminal, or a gamepad."""
