"""Says which outputs are complete and valid: `python judge.py GENERATED SCHEMAS` prints a list of booleans for each key."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema

schemas = [json.loads(line) for line in Path(sys.argv[2]).read_text().splitlines()]
formats = jsonschema.FormatChecker()


def is_valid(text: str, schema: object) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return bool(jsonschema.Draft202012Validator(schema, format_checker=formats).is_valid(value))


generated = json.loads(Path(sys.argv[1]).read_text())
judged = {
    # two outputs of each schema
    key: [is_valid(line["text"], schemas[place // 2]) for place, line in enumerate(lines[1:]) if "error" not in line]
    for key, lines in generated.items()
}
print(json.dumps(judged))
