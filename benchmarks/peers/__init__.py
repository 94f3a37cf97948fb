"""The same checks, submissions and attacks through gpt-hw and through what others grade with."""
