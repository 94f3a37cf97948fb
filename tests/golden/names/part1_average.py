"""Right, handed in under names that are hard to write."""

# INSERT right
