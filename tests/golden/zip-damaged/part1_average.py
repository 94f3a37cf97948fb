"""In a zip that breaks off."""

# INSERT right
