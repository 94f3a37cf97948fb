"""Umlauts without a coding line: הצü."""

# INSERT right
