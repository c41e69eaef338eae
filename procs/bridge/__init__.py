"""The hardware bridge, the simulator's twin: joint commands to motors over SPI or CAN, their state and the IMU back."""
