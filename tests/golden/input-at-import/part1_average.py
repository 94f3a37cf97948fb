"""Waits for somebody to type, at import."""

answer = input("the answer? ")

# INSERT right
