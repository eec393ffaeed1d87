"""A language model on ONNX Runtime that keeps the state of the tokens that it has read. Needs onnxruntime and numpy."""

import numpy as np
import onnxruntime


class Model:
    """The file of a model as optimum exports it, with the keys and values of the past as inputs and outputs."""

    def __init__(self, path: str) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, options)
        self.outputs = [output.name for output in self.session.get_outputs()]
        self.inputs = {one.name for one in self.session.get_inputs()}
        past = [one for one in self.session.get_inputs() if one.name.startswith("past_key_values")]
        # [batch, heads, length, size of a head]; the file has names and no numbers for the first and the third
        self.past = {one.name: np.zeros((1, one.shape[1], 0, one.shape[3]), np.float32) for one in past}
        self.length = 0

    def logits(self, tokens: list[int]) -> np.ndarray:
        """Reads tokens, and returns the logits of the next one."""
        start, self.length = self.length, self.length + len(tokens)
        all_inputs = {
            "input_ids": np.array([tokens], np.int64),
            "attention_mask": np.ones((1, self.length), np.int64),
            "position_ids": np.arange(start, self.length, dtype=np.int64)[None],
            # some exports return logits only for this number of last tokens
            "num_logits_to_keep": np.array(1, np.int64),
        }
        # an export has only some of these inputs
        inputs = {name: value for name, value in all_inputs.items() if name in self.inputs}
        outputs = dict(zip(self.outputs, self.session.run(None, inputs | self.past)))
        self.past = {name: outputs[name.replace("past_key_values", "present")] for name in self.past}
        return np.ascontiguousarray(outputs["logits"][0, -1])
