"""Random inputs that are the same on every machine: numpy's PCG64, seeded by the grading seed and the check."""

import zlib
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor


class Rng:
    """Draws the inputs of one check.

    Args:
        seed: The grading seed.
        check_id: Each check has its own stream, so that a new check moves no other's numbers.
    """

    def __init__(self, seed: int, check_id: str) -> None:
        self._numpy = np.random.Generator(np.random.PCG64([seed, zlib.crc32(check_id.encode())]))

    def normal(self, *shape: int, std: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
        """Draw independent normal values of mean 0.

        Args:
            shape: Sizes of the axes; none for a scalar.
            std: Standard deviation.
            dtype: Of the result; the same numbers, rounded.

        Returns:
            Tensor of that shape.
        """
        return torch.from_numpy(np.asarray(self._numpy.standard_normal(shape) * std)).to(dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
        """Draw independent values from [low, high)."""
        return torch.from_numpy(np.asarray(self._numpy.uniform(low, high, shape))).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Draw independent integers from low, ..., high - 1, as int64."""
        return torch.from_numpy(np.asarray(self._numpy.integers(low, high, shape, dtype=np.int64)))

    def permutation(self, n: int) -> Tensor:
        """Draw an order of 0, ..., n - 1 that is not the given one (for n > 1), as int64."""
        order = self._numpy.permutation(n)
        while n > 1 and (order == np.arange(n)).all():
            order = self._numpy.permutation(n)
        return torch.from_numpy(order.astype(np.int64))

    def like(
        self, shapes: Mapping[str, tuple[int, ...]], std: float = 0.7, dtype: torch.dtype = torch.float32
    ) -> dict[str, Tensor]:
        """Draw weights for named parameters; 0.7 is large enough that scores differ visibly."""
        return {name: self.normal(*shapes[name], std=std, dtype=dtype) for name in sorted(shapes)}

    def generator(self) -> torch.Generator:
        """Make a torch generator with a drawn seed."""
        return torch.Generator().manual_seed(int(self._numpy.integers(0, 2**31)))
