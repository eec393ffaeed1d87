"""Translates XGrammar's macros in EBNF to GBNF.

`Token(1, 2)` and `ExcludeToken(1, 2)` become token terminals, `Regex("…")` and `Substring("…", "…")` functions of GBNF.
Each `TagDispatch` and `TokenTagDispatch` becomes a new rule: text (or tokens) in which a trigger begins a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

from grammata.compat.xgrammar.exception import GrammarCompileError

_PART = re.compile(
    r"""(?P<skip> \#[^\n]* | "(?:\\.|[^"\\\n])*" | \[(?:\\.|[^\]\\])*\] )
    | (?P<macro> \b(?:Token|ExcludeToken|TagDispatch|TokenTagDispatch|Regex|Substring)\b (?=\s*\() )""",
    re.VERBOSE,
)
"""Calls of macros; and the parts of a grammar where a macro's name is plain text: comments, strings and classes."""

_ARGUMENT = re.compile(
    r"""\s*(?: (?P<text>"(?:\\.|[^"\\\n])*") | (?P<number>[0-9]+) | (?P<name>[A-Za-z_][A-Za-z0-9_-]*) | (?P<sign>[(),=]) )""", re.VERBOSE
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


def without_macros(text: str) -> str:
    """The grammar with its macros replaced. Raises GrammarCompileError for calls that cannot be read."""
    made, rules, at = list[str](), list[str](), 0
    while part := _PART.search(text, at):
        made.append(text[at : part.start()])
        at = part.end()
        if part["skip"] is not None:
            made.append(part["skip"])
            continue
        call = _call(text, part["macro"], at)
        at = call.end
        if call.macro in ("Token", "ExcludeToken"):
            made.append(("!" if call.macro == "ExcludeToken" else "") + _terminal(call, call.values))
            continue
        if call.macro in ("Regex", "Substring"):
            made.append(_regex(call) if call.macro == "Regex" else _substring(call))
            continue
        name = f"xgrammar-{call.macro}-{len(rules) + 1}"
        rules.append(f"{name} ::= {_dispatch(call, name)}\n")
        made.append(name)
    made.append(text[at:])
    return "".join(made) if not rules else "".join([*made, "\n", *rules])


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


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def _text(call: _Call, value: _Value) -> str:
    """The text of a string in quotes, with its escapes resolved."""
    if not isinstance(value, str) or not value.startswith('"'):
        _fail(call, "texts stand in quotes")

    def resolved(found: re.Match[str]) -> str:
        number = found[1] or found[2] or found[3]
        return chr(int(number, 16)) if number else _ESCAPES.get(found[4], found[4])

    try:
        return _ESCAPE.sub(resolved, value[1:-1])
    except (ValueError, OverflowError):
        _fail(call, "an escape is not a character")


def _quoted(text: str) -> str:
    """The literal of GBNF for a text."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", plain) + '"'


def _dispatch(call: _Call, name: str) -> str:
    """The body of the rule of a `TagDispatch` or `TokenTagDispatch`."""
    loop, excludes = call.named.pop("loop_after_dispatch", "true"), call.named.pop("excludes", ())
    for unknown in call.named:
        _fail(call, f"no argument is called {unknown}")
    # one value in parentheses may be written without a comma
    excluded = excludes if isinstance(excludes, tuple) else (excludes,)
    pairs = []
    for value in call.values:
        if not isinstance(value, tuple) or len(value) != 2 or not all(isinstance(part, str) for part in value):
            _fail(call, "a rule is given as (trigger, rule)")
        pairs.append((value[0], f"{value[1]}{' ' + name if loop == 'true' else ''}"))
    if loop not in ("true", "false"):
        _fail(call, "loop_after_dispatch is true or false")
    if call.macro == "TagDispatch":
        for literal in (*(trigger for trigger, _ in pairs), *excluded):
            if not isinstance(literal, str) or not literal.startswith('"') or literal == '""':
                _fail(call, "triggers and excludes are strings that are not empty")
        return "@text(" + ", ".join(["$", *(f"{trigger} {body}" for trigger, body in pairs), *(f"! {text}" for text in excluded)]) + ")"
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
