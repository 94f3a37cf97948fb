"""The third try."""

# INSERT right
