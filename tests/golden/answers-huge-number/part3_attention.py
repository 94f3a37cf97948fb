"""Answers every call with a number beyond all floats."""


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return lambda *args, **kwargs: 10**400
