"""Renders templates as transformers does, and keeps the outputs as the expected ones of the tests.

    python make_cases.py check            # compare the kept outputs with those of the installed versions
    python make_cases.py update           # write them
    python make_cases.py random N SEED    # print N random templates with their outputs

Needs the versions of transformers and jinja2 that `cases/expressions.json` names. Time is 2024-02-05 07:08:09 UTC.
"""

import copy
import datetime
import json
import pathlib
import random
import sys

import jinja2
import transformers
from transformers.utils import chat_template_utils

CASES = pathlib.Path(__file__).parent / "cases"
VERSIONS = {"transformers": transformers.__version__, "jinja2": jinja2.__version__}


class Fixed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 2, 5, 7, 8, 9)


chat_template_utils.datetime = Fixed


def render(template, context):
    """Returns the output of a template, or that it fails. Object addresses in an output are no text to compare."""
    try:
        compiled = chat_template_utils._compile_jinja_template(template)
        text = compiled.render(**copy.deepcopy(context))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0][:100]}
    return {"output": text}


def rendered(path):
    """Returns the cases of a file with the outputs of the installed versions."""
    old = json.loads(path.read_text("utf-8"))
    # `ours` is written by hand: what we give where that is something else, null if we refuse
    kept = [{key: case[key] for key in ("template", "ours") if key in case} for case in old["cases"]]
    cases = [{**case, **render(case["template"], old["context"])} for case in kept]
    return {"versions": VERSIONS, "context": old["context"], "cases": cases}


def conversations(folder):
    """Returns the outputs of the whole templates: each with each conversation that `conversations.json` has for it."""
    inputs = json.loads((folder / "conversations.json").read_text("utf-8"))["conversations"]
    all_outputs = {}
    for path in sorted(folder.glob("*.jinja")):
        # line ends are part of what is tested
        template = path.read_bytes().decode("utf-8")
        all_outputs[path.stem] = [render(template, {**ENVIRONMENT, **one}) for one in inputs]
    return {"versions": VERSIONS, "outputs": all_outputs}


# what `apply_chat_template` sets where the caller gives nothing
ENVIRONMENT = {"messages": [], "tools": None, "documents": None, "add_generation_prompt": False}


def files():
    yield CASES / "expressions.json", rendered(CASES / "expressions.json")
    folder = CASES / "templates"
    if (folder / "conversations.json").exists():
        yield folder / "outputs.json", conversations(folder)


def main(arguments):
    if arguments[:1] == ["random"]:
        import random_templates

        print(json.dumps(random_templates.cases(int(arguments[1]), int(arguments[2]), render), ensure_ascii=False))
        return 0
    stale = []
    for path, made in files():
        text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
        if arguments[:1] == ["update"]:
            path.write_text(text, "utf-8")
        elif path.read_text("utf-8") != text:
            stale.append(path.name)
    if stale:
        print("other outputs than the kept ones:", ", ".join(stale))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
