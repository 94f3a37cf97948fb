"""Warns and writes to stderr beside right work."""

import sys
import warnings

warnings.simplefilter("always")
warnings.warn("x", stacklevel=1)
warnings.warn("old", DeprecationWarning, stacklevel=1)
print("[W NNPACK.cpp:64] Could not initialize NNPACK! Reason: Unsupported hardware.", file=sys.stderr)

# INSERT right
