"""Answers every call, also that of a class, with None."""


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return lambda *args, **kwargs: None
