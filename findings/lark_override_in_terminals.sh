#!/usr/bin/env bash
# Lark: `%override` of an imported terminal does not reach the other imported terminals that use it.
#
# lark 1.3.1 (PyPI, 30 November 2026). Expected, as its documentation of `%override` says: every reference to the
# rule or terminal changes, also those in the imported grammar. Seen: rules follow it, and `%extend` reaches rules and terminals; but a terminal
# of the imported file keeps the old definition of a terminal that is overridden. Both `HEX` and `number` use `DIGIT`:
# after `%override DIGIT: "d"` a number is `d`, and HEX is still `0` to `9` or `a` to `c`. In one file, without an
# import, HEX follows.
#
# Output:
#   lark 1.3.1
#   imported, %override: number "d" True, number "1" False, HEX "d" of [0-9a-c] False, HEX "1" True
#   imported, %extend: number "d" True, number "1" True, HEX "d" of [0-9a-c] True, HEX "1" True
#   in one file, %override: number "d" True, number "1" False, HEX "d" of [0-9a-c] True, HEX "1" False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check --no-deps lark==1.3.1
cat > "$folder/numbers.lark" <<'END'
number: DIGIT+
HEX: DIGIT | "a".."c"
DIGIT: "0".."9"
END
cat > "$folder/show.py" <<'PY'
import pathlib
import sys
from importlib.metadata import version

import lark

FOLDER = pathlib.Path(sys.argv[0]).parent
IMPORTS = "%import .numbers (number, HEX, DIGIT)\n"
OWN = (FOLDER / "numbers.lark").read_text()


def accepts(definitions, start, text):
    grammar = f"start: {start}\n{definitions}"
    parser = lark.Lark(grammar, parser="earley", lexer="dynamic_complete", source_path=str(FOLDER / "main.lark"))
    try:
        parser.parse(text)
        return True
    except lark.exceptions.UnexpectedInput:
        return False


print("lark", version("lark"))
for what, names, change in [
    ("imported, %override", IMPORTS, "%override"),
    ("imported, %extend", IMPORTS, "%extend"),
    ("in one file, %override", OWN, "%override"),
]:
    source = f'{names}{change} DIGIT: "d"\n'
    number = [accepts(source, "number", text) for text in "d1"]
    hexadecimal = [accepts(source, "HEX", text) for text in "d1"]
    print(f'{what}: number "d" {number[0]}, number "1" {number[1]},', end=" ")
    print(f'HEX "d" of [0-9a-c] {hexadecimal[0]}, HEX "1" {hexadecimal[1]}')
PY
cat > "$folder/expected" <<'END'
lark 1.3.1
imported, %override: number "d" True, number "1" False, HEX "d" of [0-9a-c] False, HEX "1" True
imported, %extend: number "d" True, number "1" True, HEX "d" of [0-9a-c] True, HEX "1" True
in one file, %override: number "d" True, number "1" False, HEX "d" of [0-9a-c] True, HEX "1" False
END
"$folder/venv/bin/python" "$folder/show.py" | tee "$folder/seen"
diff "$folder/expected" "$folder/seen"
