"""Speed and memory of the grader, measured by ``python -m benchmarks`` and never by a test."""
