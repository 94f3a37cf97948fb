"""Leaves politely, before anything is defined."""

import sys

sys.exit(0)

# INSERT right
