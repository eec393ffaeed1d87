"""Stands in for torch where XGrammar's tests run: tensors on the CPU, which are NumPy arrays.

It has what XGrammar's package and its tests of grammars use. Anything else is an AttributeError.
"""

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = "2.15.0"

int8, int16, int32, int64 = (np.dtype(f"int{width}") for width in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{width}") for width in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{width}") for width in (16, 32, 64))
short, int, long, half, float, double, bool = int16, int32, int64, float16, float32, float64, np.dtype("bool")
dtype = np.dtype

bfloat16 = object()
"""A type that no array here has."""


class Tensor(np.ndarray):
    """An array with the methods of tensors that tests call."""

    device = SimpleNamespace(type="cpu", index=None)
    is_cuda = False

    @property
    def shape(self) -> tuple[builtins.int, ...]:
        return tuple(np.ndarray.shape.__get__(self))

    def numpy(self) -> np.ndarray:
        return self.view(np.ndarray)

    def cpu(self) -> Tensor:
        return self

    def clone(self) -> Tensor:
        return self.copy()

    def fill_(self, value: Any) -> Tensor:
        self[...] = value
        return self

    def to(self, *arguments: Any, **named: Any) -> Tensor:
        kinds = [given for given in (*arguments, *named.values()) if isinstance(given, np.dtype)]
        return self.astype(kinds[0]) if kinds else self

    def view(self, *shape: Any) -> Any:
        return self.reshape(shape) if shape and isinstance(shape[0], builtins.int) else super().view(*shape)

    def data_ptr(self) -> builtins.int:
        return self.ctypes.data

    def dim(self) -> builtins.int:
        return self.ndim

    def is_contiguous(self) -> Any:
        return self.flags.c_contiguous

    def numel(self) -> builtins.int:
        return self.size

    def size_(self) -> tuple[builtins.int, ...]:
        return self.shape


def _tensor(array: Any) -> Tensor:
    return np.asarray(array).view(Tensor)


def tensor(value: Any, dtype: Any = None, device: Any = None) -> Tensor:
    return np.array(value, dtype=dtype).view(Tensor)


def from_numpy(array: np.ndarray) -> Tensor:
    return _tensor(array)


def full(shape: Any, value: Any, dtype: Any = None) -> Tensor:
    return _tensor(np.full(shape, value, dtype=dtype))


def zeros(*shape: Any, dtype: Any = float32) -> Tensor:
    return _tensor(np.zeros(shape[0] if isinstance(shape[0], tuple) else shape, dtype=dtype))


def ones(*shape: Any, dtype: Any = float32) -> Tensor:
    return _tensor(np.ones(shape[0] if isinstance(shape[0], tuple) else shape, dtype=dtype))


def empty(*shape: Any, dtype: Any = float32) -> Tensor:
    return zeros(*shape, dtype=dtype)


def arange(count: builtins.int, dtype: Any = int64, device: Any = None) -> Tensor:
    return _tensor(np.arange(count, dtype=dtype))


def equal(left: Any, right: Any) -> Any:
    return np.array_equal(left, right)


cuda = SimpleNamespace(is_available=lambda: False)
version = SimpleNamespace(cuda=None, hip=None)
utils = SimpleNamespace(dlpack=SimpleNamespace(to_dlpack=lambda array: array.__dlpack__()))
nn = SimpleNamespace()
backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
LongTensor = FloatTensor = Tensor
