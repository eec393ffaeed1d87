"""An ONNX graph under construction. Needs numpy and onnx."""

import numpy as np
from onnx import helper, numpy_helper


class Graph:
    """Nodes and constants with unique names; `made` has the names of the constants.

    `domain` is the domain of nodes that are added without one: None writes no field, "" an empty one.
    """

    def __init__(self, domain=None):
        self.domain = domain
        self.nodes, self.constants, self.made = [], [], set()

    def constant(self, name, array):
        if name not in self.made:
            self.made.add(name)
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def floats(self, name, value):
        return self.constant(name, np.array(value, np.float32))

    def integers(self, name, *values):
        return self.constant(name, np.array(values, np.int64))

    def add(self, kind, inputs, outputs, domain=None, **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        name = f"{outputs[0]}/{kind}"
        domain = self.domain if domain is None else domain
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, domain=domain, **attributes))
        return outputs[0]
