"""The first try."""

# INSERT wrong
