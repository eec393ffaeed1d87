"""Reads the metadata and the tensors of a GGUF file; tensors stay in raw blocks. Needs only numpy.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct

import numpy as np

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
# type in ggml -> (name, values per block, bytes per block)
TYPES = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 3: ("Q4_1", 32, 20), 8: ("Q8_0", 32, 34)}


class Tensor:
    """A matrix in raw blocks: `blocks` is uint8 [rows, blocks per row, bytes per block]. A vector has one row."""

    def __init__(self, kind, shape, blocks):
        self.kind, self.shape, self.blocks = kind, shape, blocks

    def floats(self):
        """Returns the values of an F32 tensor."""
        assert self.kind == "F32", self.kind
        return np.ascontiguousarray(self.blocks).view(np.float32).reshape(self.shape)


class Gguf:
    """A file: the metadata `fields` and the `tensors`, both by name."""

    def __init__(self, path):
        self.bytes = np.memmap(path, np.uint8, "r")
        self.at = 0
        assert bytes(self.bytes[:4]) == b"GGUF", "not a GGUF file"
        self.at = 4
        assert self.scalar("<I") == 3, "only version 3 is read"
        tensors, fields = self.scalar("<Q"), self.scalar("<Q")
        self.fields = {}
        for _ in range(fields):
            name = self.string()
            self.fields[name] = self.value(self.scalar("<I"))
        infos = []
        for _ in range(tensors):
            name = self.string()
            dims = [self.scalar("<Q") for _ in range(self.scalar("<I"))]
            infos.append((name, dims, self.scalar("<I"), self.scalar("<Q")))
        alignment = self.fields.get("general.alignment", 32)
        start = -(-self.at // alignment) * alignment
        self.tensors = {}
        for name, dims, kind, offset in infos:
            kind, values, size = TYPES[kind]
            # a file lists the dimensions from the fastest to the slowest one
            rows, a_row = int(np.prod(dims[1:])), dims[0] // values
            raw = self.bytes[start + offset :][: rows * a_row * size]
            self.tensors[name] = Tensor(kind, dims[::-1], raw.reshape(rows, a_row, size))

    def scalar(self, code):
        (value,) = struct.unpack_from(code, self.bytes, self.at)
        self.at += struct.calcsize(code)
        return value

    def string(self):
        length = self.scalar("<Q")
        self.at += length
        return bytes(self.bytes[self.at - length : self.at]).decode("utf-8")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, count = self.scalar("<I"), self.scalar("<Q")
            return [self.value(element) for _ in range(count)]
        return self.scalar(SCALARS[kind])
