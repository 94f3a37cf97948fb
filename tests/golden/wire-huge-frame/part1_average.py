"""Announces an answer of four gigabytes."""

import os
import struct

os.write(3, struct.pack("!II", 2**32 - 1, 2**32 - 1))

# INSERT right
