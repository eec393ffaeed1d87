#!/usr/bin/env bash
# SGLang 0.5.23: the reader of Mistral's tool calls takes the id of a call as a part of the tool's name.
#
# The chat template of Mistral Small 3.2 writes calls as `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`, and mistral-common
# decodes this form. SGLang's detector `mistral` finds no call in it, without an error; without the id it finds the
# call. Expected: the same call twice.
#
# Seen on 29 November 2026 (sglang 0.5.23, Python 3.11):
#   without id: [('get_time', '{}')]
#   with id:    []
#
# The detector is run alone: the modules of SGLang that it imports for its server are empty.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet orjson partial-json-parser pydantic
"$folder/venv/bin/pip" download --quiet --no-deps --only-binary :all: --python-version 3.11 \
    --platform manylinux_2_34_x86_64 --dest "$folder" sglang==0.5.23
cd "$folder"
"$folder/venv/bin/python" - "$folder" <<'END'
import glob, importlib.machinery, logging, sys, types, zipfile
from types import SimpleNamespace as Record

folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/sglang-*.whl")[0]) as wheel:
    wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith("sglang/srt/function_call/")])
sys.path.insert(0, folder)
logging.disable(logging.CRITICAL)


class Empty:
    """An empty module for whatever is not the reader of calls."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("sglang.srt.function_call") or name.split(".")[0] != "sglang":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = [folder + "/" + spec.name.replace(".", "/")]
        flag = Record(get=lambda: False)
        module.envs = Record(SGLANG_FORWARD_UNKNOWN_TOOLS=flag)
        module.__getattr__ = lambda name: type(name, (), {})
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Empty())




from sglang.srt.function_call.mistral_detector import MistralDetector

tool = Record(type="function", function=Record(name="get_time", parameters={"type": "object", "properties": {}}))


def calls(text):
    return [(call.name, call.parameters) for call in MistralDetector().detect_and_parse(text, [tool]).calls]


without, with_id = calls("[TOOL_CALLS]get_time[ARGS]{}"), calls("[TOOL_CALLS]get_time[CALL_ID]abcdefg00[ARGS]{}")
print("sglang 0.5.23\nwithout id:", without, "\nwith id:   ", with_id)
assert without == [("get_time", "{}")] and with_id == [], "the behaviour has changed"
END
