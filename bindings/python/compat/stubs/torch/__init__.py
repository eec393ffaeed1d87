"""A replacement for torch for XGrammar's tests: tensors on the CPU, which are NumPy arrays.

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


class _Size(builtins.int):
    """The number of elements, as in NumPy; when called, it returns the shape, as in torch."""

    def __new__(cls, array: np.ndarray) -> _Size:
        made = super().__new__(cls, np.ndarray.size.__get__(array))
        made._shape = array.shape  # type: ignore[attr-defined]
        return made

    def __call__(self, dim: Any = None) -> Any:
        shape = self._shape  # type: ignore[attr-defined]
        return shape if dim is None else shape[dim]


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

    @property
    def size(self) -> _Size:  # type: ignore[override]
        return _Size(self)

    def stride(self) -> tuple[builtins.int, ...]:
        return tuple(step // self.itemsize for step in self.strides)

    def sum(self, *arguments: Any, dim: Any = None, **named: Any) -> Any:
        return super().sum(*arguments, **({"axis": dim} if dim is not None else {}), **named)

    def scatter_(self, dim: builtins.int, places: Any, value: Any) -> Tensor:
        np.put_along_axis(self.view(np.ndarray), np.asarray(places), value, axis=dim)
        return self

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


def arange(*bounds: builtins.int, dtype: Any = int64, device: Any = None) -> Tensor:
    return _tensor(np.arange(*bounds, dtype=dtype))


_RANDOM = np.random.default_rng(20261127)


def randint(low: builtins.int, high: builtins.int, shape: Any, dtype: Any = int64) -> Tensor:
    return _tensor(_RANDOM.integers(low, high, shape).astype(dtype))


def randn(*shape: builtins.int, dtype: Any = float32) -> Tensor:
    return _tensor(_RANDOM.standard_normal(shape).astype(dtype))


def randperm(count: builtins.int) -> Tensor:
    return _tensor(_RANDOM.permutation(count))


def stack(parts: Any) -> Tensor:
    return _tensor(np.stack(parts))


def where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return tuple(_tensor(places) for places in np.where(condition))
    kind = next((choice.dtype for choice in choices if isinstance(choice, np.ndarray)), None)
    return _tensor(np.where(condition, *choices).astype(kind))


def masked_fill(values: Any, mask: Any, value: Any) -> Tensor:
    return where(mask, value, values)


def isinf(values: Any) -> Tensor:
    return _tensor(np.isinf(values))


def isfinite(values: Any) -> Tensor:
    return _tensor(np.isfinite(values))


def _assert_close(actual: Any, expected: Any, rtol: builtins.float = 1e-5, atol: builtins.float = 1e-8) -> None:
    assert np.asarray(actual).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


testing = SimpleNamespace(assert_close=_assert_close)


def equal(left: Any, right: Any) -> Any:
    return np.array_equal(left, right)


cuda = SimpleNamespace(is_available=lambda: False)
version = SimpleNamespace(cuda=None, hip=None)
utils = SimpleNamespace(dlpack=SimpleNamespace(to_dlpack=lambda array: array.__dlpack__()))
nn = SimpleNamespace()
backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
LongTensor = FloatTensor = Tensor
