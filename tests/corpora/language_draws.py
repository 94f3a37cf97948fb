"""What tests of the languages draw: seeds and generators, in few examples."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings

quick = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**31 - 1)


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
