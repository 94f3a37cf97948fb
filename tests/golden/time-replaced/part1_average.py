"""Makes every clock of Python stand still."""

import time

for name in ("time", "monotonic", "perf_counter", "process_time", "sleep"):
    setattr(time, name, lambda *args: 0.0)

# INSERT wrong
