"""Writes one file over the limit, whose signal ends a process that does not expect it."""

with open("/tmp/big", "wb") as file:
    file.truncate(1 << 40)

# INSERT right
