"""Byte layouts of buses and sensors: pure packing and unpacking, no I/O, no bus library, no number of any robot.

One rule for all modules. Encoders clamp to the range, refuse NaN and infinity with a ValueError that names the field,
and never emit a frame that means something else. Decoders either raise DecodeError, which carries a Reason, or return
values with a mark that says which of them are not to be used.
"""
