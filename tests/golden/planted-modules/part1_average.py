"""Right, with files beside it that would shadow libraries or configure pytest."""

# INSERT right
