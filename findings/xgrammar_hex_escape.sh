#!/usr/bin/env bash
# XGrammar's EBNF: `\x` takes all hexadecimal digits that follow.
#
# xgrammar 0.2.9 (PyPI, 29 November 2026). Expected: two digits, as in GBNF, from which the notation comes, and in
# Python and JavaScript. Seen: `"\x414"` is the one character U+0414, not `A4`; so `"\x0a1"` of a llama.cpp grammar, a
# line feed and `1`, becomes U+00A1 without a message. `\u` takes exactly four digits and `\U` eight.
#
# Output:
#   xgrammar 0.2.9
#   "\x414" as U+0414: True, as "A4": False
#   "\x0a1" as U+00A1: True, as a line feed and "1": False
#   "\u00411" as "A1": True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check --no-deps xgrammar==0.2.9 apache-tvm-ffi==0.1.15.post2 numpy==2.4.6 \
    pydantic==2.14.4 pydantic-core==2.50.5 annotated-types==0.8.0 typing-inspection==0.4.5 typing_extensions==4.16.0
cat > "$folder/show.py" <<'PY'
import sys
import types
from importlib.metadata import version


class Stub(types.ModuleType):
    """torch and transformers, which xgrammar imports and does not need for a text."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


for name in ("torch", "torch.utils", "torch.utils.cpp_extension", "transformers"):
    sys.modules[name] = Stub(name)
torch = sys.modules["torch"]
torch.__version__, torch.utils = "2.15.0", sys.modules["torch.utils"]
torch.tensor = lambda *values, **options: None
torch.cuda = types.SimpleNamespace(is_available=lambda: False)

from xgrammar.testing import _is_grammar_accept_string as accepts  # noqa: E402

print("xgrammar", version("xgrammar"))
a, b, c = 'root ::= "\\x414"', 'root ::= "\\x0a1"', 'root ::= "\\u00411"'
print(f'"\\x414" as U+0414: {accepts(a, chr(0x414))}, as "A4": {accepts(a, "A4")}')
print(f'"\\x0a1" as U+00A1: {accepts(b, chr(0xA1))}, as a line feed and "1": {accepts(b, chr(10) + "1")}')
print(f'"\\u00411" as "A1": {accepts(c, "A1")}')
PY
cat > "$folder/expected" <<'END'
xgrammar 0.2.9
"\x414" as U+0414: True, as "A4": False
"\x0a1" as U+00A1: True, as a line feed and "1": False
"\u00411" as "A1": True
END
"$folder/venv/bin/python" "$folder/show.py" | tee "$folder/seen"
diff "$folder/expected" "$folder/seen"
