#!/usr/bin/env bash
# Pydantic refuses JSON that it writes itself, and that its own JSON Schema allows, in two cases: a member of an
# enumeration in a `Literal`, and an enumeration whose values are tuples. A schema-constrained model can then write
# no value that the type reads. Literals of enumerations that are also `str` are read.
#
# Versions: pydantic 2.14.4, pydantic-core 2.50.5
#
# Output seen:
#   2.14.4
#   Literal[Color.RED]: schema {"const": "red", "type": "string"}, written "red", read back: literal_error
#   Literal[Text.RED]: schema {"const": "red", "type": "string"}, written "red", read back: Text.RED
#   Pairs: schema {"enum": [[1, 2], [3, 4]], "title": "Pairs", "type": "array"}, written [1,2], read back: enum
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.4
"$folder/venv/bin/python" - >"$folder/seen" <<'END'
import enum, json
from typing import Literal

import pydantic


class Color(enum.Enum):
    RED = "red"


class Text(str, enum.Enum):
    RED = "red"


class Pairs(enum.Enum):
    A = (1, 2)
    B = (3, 4)


print(pydantic.VERSION)
for name, type_, value in (
    ("Literal[Color.RED]", Literal[Color.RED], Color.RED),
    ("Literal[Text.RED]", Literal[Text.RED], Text.RED),
    ("Pairs", Pairs, Pairs.A),
):
    adapter = pydantic.TypeAdapter(type_)
    written = adapter.dump_json(value).decode()
    try:
        back = str(adapter.validate_json(written))
    except pydantic.ValidationError as error:
        back = error.errors()[0]["type"]
    schema = json.dumps(adapter.json_schema(), sort_keys=True)
    print(f"{name}: schema {schema}, written {written}, read back: {back}")
END
cat "$folder/seen"
diff - "$folder/seen" <<'END'
2.14.4
Literal[Color.RED]: schema {"const": "red", "type": "string"}, written "red", read back: literal_error
Literal[Text.RED]: schema {"const": "red", "type": "string"}, written "red", read back: Text.RED
Pairs: schema {"enum": [[1, 2], [3, 4]], "title": "Pairs", "type": "array"}, written [1,2], read back: enum
END
