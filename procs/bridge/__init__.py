"""The hardware bridge: joint commands to motors over SPI or CAN, their state and the IMU's back. The simulator's twin."""
