"""Translates XGrammar's EBNF to GBNF.

Rules may continue at the next line, and literals and classes have XGrammar's escapes. `Token(1, 2)` and
`ExcludeToken(1, 2)` become token terminals, `Regex("…")` and `Substring("…", "…")` functions of GBNF. Each `TagDispatch` and `TokenTagDispatch` becomes a new rule: text (or tokens) in which a trigger begins a rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from grammata.compat.xgrammar.exception import GrammarCompileError

_PART = re.compile(
    r"""(?P<comment> \#[^\n]* ) | (?P<special> <[^<>\s"\[\]]*> ) | (?P<literal> "(?:\\.|[^"\\\n])*" ) | (?P<class> \[(?:\\.|[^\]\\\n])*\] )
    | (?P<macro> \b(?:Token|ExcludeToken|TagDispatch|TokenTagDispatch|Regex|Substring)\b (?=\s*\() )
    | (?P<rule> (?P<name>[A-Za-z_][A-Za-z0-9_.-]*) (?P<attributes>\[[^\]\n]*\])? \s* ::= )
    | (?P<word> [A-Za-z_][A-Za-z0-9_.-]* ) | (?P<times> \{[^{}]*\} )""",
    re.VERBOSE,
)
"""The parts of a grammar that are translated."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")

_TIMES = re.compile(r"\{\s*([0-9]+)\s*(?:(,)\s*(-1|[0-9]+)?\s*)?\}")

_ARGUMENT = re.compile(
    r"""\s*(?: (?P<text>"(?:\\.|[^"\\\n])*") | (?P<number>[0-9]+) | (?P<name>[A-Za-z_][A-Za-z0-9_.-]*) | (?P<sign>[(),=]) )""", re.VERBOSE
)

_Value = str | tuple["_Value", ...]
"""The text of a value as written (a string with its quotes), or a tuple of values."""


@dataclass
class _Call:
    macro: str
    end: int
    """The index in the text after the call."""
    values: list[_Value] = field(default_factory=list)
    named: dict[str, _Value] = field(default_factory=dict)


def to_gbnf(text: str) -> str:
    """The grammar in GBNF. Raises GrammarCompileError for parts that cannot be read."""
    made, rules, at = list[str](), list[str](), 0
    names = _names(text)
    body: int | None = None
    """The index in `made` of the place for the parenthesis that opens the body of the current rule."""
    while part := _PART.search(text, at):
        made.append(text[at : part.start()])
        at = part.end()
        if part["macro"] is not None:
            call = _call(text, part["macro"], at)
            at = call.end
            made.append(_macro(call, rules, names))
        elif part["rule"] is not None:
            _close(made, body)
            made += [f"{names.get(part['name'], part['name'])}{part['attributes'] or ''} ::=", ""]
            body = len(made) - 1
        else:
            made.append(_part(part, names))
    made.append(text[at:])
    _close(made, body)
    return "".join(made) if not rules else "".join([*made, "\n", *rules])


def _close(made: list[str], body: int | None) -> None:
    """Puts the body of a rule in parentheses if it goes on at the next line. A line end that follows the body stays behind
    the parenthesis; a comment there ends before it."""
    if body is None:
        return
    last = len(made)
    while last > body + 1 and (not made[last - 1].strip() or made[last - 1].startswith("#")):
        last -= 1
    ending = made[last - 1]
    kept = ending.rstrip()
    if any("\n" in part for part in [*made[body + 1 : last - 1], kept]):
        made[body] = " ("
        made[last - 1 : last] = [kept, ")", ending[len(kept) :]]


def _part(part: re.Match[str], names: Mapping[str, str]) -> str:
    """The GBNF of a comment, a special token, a literal, a class, a name or a number of times."""
    text = part[0]
    if part["comment"] is not None or part["special"] is not None:
        return text
    if part["literal"] is not None:
        return _literal(text)
    if part["class"] is not None:
        return _class(text[1:-1])
    if part["word"] is not None:
        return names.get(text, text)
    times = _TIMES.fullmatch(text)
    if times is None or times[2] is None:
        return text if times is None else f"{{{times[1]}}}"
    return f"{{{times[1]},{'' if times[3] in (None, '-1') else times[3]}}}"


def _literal(text: str) -> str:
    """The literal of GBNF for a string as written, with its quotes."""
    return _quoted(_resolved(text[1:-1], _ESCAPES))


def _names(text: str) -> dict[str, str]:
    """New names for rules with points in their names, which GBNF does not have."""
    known = set(_NAME.findall(text))
    made: dict[str, str] = {}
    for name in sorted(name for name in known if "." in name):
        other = name.replace(".", "-")
        while other in known:
            other += "-"
        known.add(other)
        made[name] = other
    return made


def _class(text: str) -> str:
    """The class of GBNF. Escaped characters are written by their numbers, so that none of them has a meaning."""

    def escaped(found: re.Match[str]) -> str:
        return _numbered(_character(found, _CLASS_ESCAPES))

    return f"[{_ESCAPE.sub(escaped, text)}]"


def _numbered(character: str) -> str:
    """An escape of a character by its number, which GBNF and EBNF read alike: `\\x` would take the digits after it."""
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _macro(call: _Call, rules: list[str], names: Mapping[str, str]) -> str:
    """The part of a rule for a call of a macro. The rule of a `TagDispatch` or `TokenTagDispatch` is added to `rules`."""
    if call.macro in ("Token", "ExcludeToken"):
        return ("!" if call.macro == "ExcludeToken" else "") + _terminal(call, call.values)
    if call.macro in ("Regex", "Substring"):
        return _regex(call) if call.macro == "Regex" else _substring(call)
    name = f"xgrammar-{call.macro}-{len(rules) + 1}"
    rules.append(f"{name} ::= {_dispatch(call, name, names)}\n")
    return name


def _regex(call: _Call) -> str:
    """The function of GBNF for a pattern of ECMA-262.

    Without `flags`, `.` matches every character. `json_string` forbids characters that JSON strings must escape.
    """
    in_json, flags = call.named.pop("json_string", "false"), call.named.pop("flags", None)
    for unknown in call.named:
        _fail(call, f"no argument is called {unknown}")
    if len(call.values) != 1:
        _fail(call, "it has one argument without a name, the pattern in quotes")
    if in_json not in ("true", "false"):
        _fail(call, "json_string is true or false")
    letters = "s" if flags is None else _text(call, flags)
    if unknown := next((letter for letter in letters if letter not in "isu"), ""):
        _fail(call, f"flags has {unknown!r}; it may have i, s and u")
    written = _quoted(letters + ("j" if in_json == "true" else ""))
    return f"@regex({_quoted(_text(call, call.values[0]))}, {written})"


def _substring(call: _Call) -> str:
    """The function of GBNF that matches any run of consecutive chunks."""
    for unknown in call.named:
        _fail(call, f"no argument is called {unknown}")
    return f"@substring({', '.join(_quoted(_text(call, value)) for value in call.values)})"


_ESCAPES = {
    "n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b",
    "'": "'", '"': '"', "?": "?", "\\": "\\", "/": "/",
}  # fmt: skip
"""The escapes of literals: the letter after the backslash, and the character."""

_CLASS_ESCAPES = {**_ESCAPES, "-": "-", "]": "]", "[": "[", "^": "^"}

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
"""An escape. As in XGrammar, `\\x` takes all hexadecimal digits that follow."""


def _text(call: _Call, value: _Value) -> str:
    """The text of a string in quotes, with its escapes resolved."""
    if not isinstance(value, str) or not value.startswith('"'):
        _fail(call, "texts stand in quotes")
    return _resolved(value[1:-1], _ESCAPES)


def _resolved(text: str, escapes: Mapping[str, str]) -> str:
    """A text with its escapes resolved. Raises GrammarCompileError for other escapes."""
    return _ESCAPE.sub(lambda found: _character(found, escapes), text)


def _character(found: re.Match[str], escapes: Mapping[str, str]) -> str:
    digits = found[1] or found[2] or found[3]
    code = int(digits, 16) if digits else -1
    if digits and code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
        return chr(code)
    if digits is None and found[4] in escapes:
        return escapes[found[4]]
    raise GrammarCompileError(f"error[xgrammar/escape] invalid escape in EBNF: {found[0]}")


def _quoted(text: str) -> str:
    """The literal of GBNF for a text."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: _numbered(found[0]), plain) + '"'


def _dispatch(call: _Call, name: str, names: Mapping[str, str]) -> str:
    """The body of the rule of a `TagDispatch` or `TokenTagDispatch`."""
    loop, excludes = call.named.pop("loop_after_dispatch", "true"), call.named.pop("excludes", ())
    for unknown in call.named:
        _fail(call, f"no argument is called {unknown}")
    # one value in parentheses may be written without a comma
    excluded = excludes if isinstance(excludes, tuple) else (excludes,)
    pairs: list[tuple[str, str]] = []
    for value in call.values:
        match value:
            case (str(trigger), str(rule)):
                pairs.append((trigger, f"{names.get(rule, rule)}{' ' + name if loop == 'true' else ''}"))
            case _:
                _fail(call, "a rule is given as (trigger, rule)")
    if loop not in ("true", "false"):
        _fail(call, "loop_after_dispatch is true or false")
    if call.macro == "TagDispatch":
        for literal in (*(trigger for trigger, _ in pairs), *excluded):
            if not isinstance(literal, str) or not literal.startswith('"') or literal == '""':
                _fail(call, "triggers and excludes are strings that are not empty")
        return "@text(" + ", ".join(["$", *(f"{_literal(trigger)} {body}" for trigger, body in pairs), *(f"! {_literal(str(text))}" for text in excluded)]) + ")"
    if {trigger for trigger, _ in pairs} & set(excluded):
        _fail(call, "a trigger is excluded too")
    free = f"(!{_terminal(call, [*(trigger for trigger, _ in pairs), *excluded])})*"
    if not pairs:
        return free
    return f"{free} ({' | '.join(f'{_terminal(call, [trigger])} {body}' for trigger, body in pairs)})?"


def _terminal(call: _Call, tokens: list[_Value]) -> str:
    """The token terminal of ids and texts of tokens, at least one."""
    if not tokens or any(not isinstance(token, str) or not (token.isdigit() or token.startswith('"')) for token in tokens):
        _fail(call, "tokens are ids, at least one")
    return f"<[{','.join(str(token) for token in tokens)}]>"


def _call(text: str, macro: str, at: int) -> _Call:
    """Reads the arguments of a call. `at` is the index after the macro's name. Raises GrammarCompileError."""
    call, open_tuples, name = _Call(macro, at), list[list[_Value]](), None
    while True:
        part = _ARGUMENT.match(text, call.end)
        if part is None:
            _fail(call, "arguments are strings, numbers, true, false, names of rules, and tuples of these")
        call.end = part.end()
        found = part["text"] or part["number"] or part["name"] or part["sign"]
        if found == "(":
            open_tuples.append([])
        elif found == ")" and len(open_tuples) == 1:
            call.values = open_tuples[0]
            return call
        elif found == "=":
            last = open_tuples[0].pop() if len(open_tuples) == 1 and open_tuples[0] else None
            if not isinstance(last, str):
                _fail(call, "`=` stands after a name")
            name = last
        elif found != ",":
            value: _Value = found if found != ")" else tuple(open_tuples.pop())
            if name is not None and len(open_tuples) == 1:
                call.named[name], name = value, None
            else:
                open_tuples[-1].append(value)


def _fail(call: _Call, why: str) -> NoReturn:
    raise GrammarCompileError(f"error[xgrammar/macro] a call of {call.macro} cannot be read: {why}")
