"""Says what of this machine stands in the way of the stack, and the command that mends it."""
