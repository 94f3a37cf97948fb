"""Loops inside a C function, which never looks up."""

import re

re.match(r"(a+)+$", "a" * 60 + "b")

# INSERT right
