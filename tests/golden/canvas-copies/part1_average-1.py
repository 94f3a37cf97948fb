"""The second try."""

# INSERT wrong
