"""Ends the process with status 0 before anything is defined."""

import os

os._exit(0)

# INSERT right
