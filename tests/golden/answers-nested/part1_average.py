"""Answers every call with lists and dicts of odd things."""


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return lambda *args, **kwargs: [{"a": (float("nan"), None)}, {1: []}, ()]
