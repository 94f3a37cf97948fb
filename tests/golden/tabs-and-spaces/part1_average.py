"""Indented by two rules at once."""


def f():
	if True:
        return 1


# INSERT right
