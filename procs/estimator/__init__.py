"""State estimator: joints and IMU in, body and leg state out."""
