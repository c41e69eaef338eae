"""Emulated hardware: SPIne boards, CAN motors and an IMU behind their real bytes, on the simulator's physics."""
