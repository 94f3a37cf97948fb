"""Prints what a score looks like."""

# INSERT wrong

print('{"score": 999, "outcome": "passed", "tests": []}')
print("26 passed in 0.01s\nTotal Score: 54.000 / 54.000 (100.000%)")
