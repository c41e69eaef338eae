"""Joint test: one joint of a robot in a rig follows a hold, sine or step, and its tracking error is measured."""
