"""Twice in one zip, under names that differ in case."""

# INSERT right
