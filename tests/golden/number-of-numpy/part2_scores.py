"""Returns numbers of numpy where Python floats are due: they are numbers too."""

# INSERT right


import numpy

honest_variance, honest_fraction = dot_product_variance, frozen_fraction


def dot_product_variance(d, n_pairs=20_000, generator=None):
    return numpy.float64(honest_variance(d, n_pairs, generator))


def frozen_fraction(weights, threshold=0.99):
    return numpy.float32(honest_fraction(weights, threshold)) if threshold == 0.5 else honest_fraction(weights, threshold)
