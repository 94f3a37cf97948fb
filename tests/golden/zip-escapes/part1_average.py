"""Right, in a zip whose other members try to leave it."""

# INSERT right
