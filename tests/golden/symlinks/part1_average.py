"""Right, beside links to what is none of its business."""

# INSERT right
