"""Saved on Windows."""

# INSERT right
