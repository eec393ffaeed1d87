"""Random templates: chains of the filters, methods, operators and tests that templates of models use."""

import random

# operands of each kind, and the variables of the context
VALUES = {
    "text": [
        "s", "t2", "''", "' a b  c '", "'x=1=y'", "\"it's\"", "'é😀ß'", "'a\\nb\\r\\n\\nc'", "'12'", "'-3.5'",
        "'<&\"'", "'\\/\\t'",
    ],
    "number": ["n", "f", "0", "1", "-3", "2.5", "1e-7", "1e16", "123456789012", "0.1", "yes", "-0.5"],
    "list": [
        "l", "ls", "[]", "[1, 'a', none, 1e-9]", "['b', 'a']", "(1, 2)", "[[1, 2], [3, 4]]",
        "users|map(attribute='name')|list",
    ],
    "map": ["d", "{}", "{'k': 'v', 'a': [1, 2.0]}", "users[0]", "param", "clash"],
    "other": ["none", "nowhere", "users", "loop_value"],
}
CONTEXT = {
    "s": "Hello, World", "t2": "foo_bar-baz qux", "n": 7, "f": 1e-07, "l": [3, 1, 2], "ls": ["b", "A", "c d"],
    "d": {"b": 1, "a": [1.5, None, "é"]}, "param": {"type": "array"}, "clash": {"items": [1], "keys": "x"},
    "loop_value": False, "yes": True,
    "users": [{"name": "Bob", "age": 30, "ok": True}, {"name": "Ann", "age": 20, "ok": False, "nick": "A"}],
}
METHODS = [
    "upper()", "lower()", "title()", "capitalize()", "swapcase()", "casefold()", "strip()", "lstrip()", "rstrip()",
    "strip('a ')",
    "lstrip('xb')", "rstrip('c1')", "split()", "split(' ')", "split('a', 1)", "rsplit()", "rsplit(' ', 1)",
    "rsplit(none, 1)",
    "splitlines()", "splitlines(true)", "partition('=')", "rpartition('=')", "removeprefix('He')",
    "removesuffix('c')",
    "replace('a', 'bb')", "replace('', '-', 2)", "find('a')", "rfind('o')", "find('o', 5)", "find('', 3)",
    "count('o')", "count('')",
    "startswith('H')", "startswith(('x', 'f'))", "endswith('d')", "endswith('', 1, 2)", "zfill(6)", "ljust(8)",
    "rjust(8, '*')", "center(9, '.')",
    "isdigit()", "isalpha()", "isalnum()", "isupper()", "islower()", "isspace()", "istitle()", "isascii()",
    "isidentifier()", "expandtabs(4)",
    "join(['p', 'q'])", "format(1)", "index('o')", "encode()", "items()|list", "get('a')", "get('zz', 0)",
    "get('k')", "keys()|list", "values()|list", "count(1)",
]
FILTERS = [
    "upper", "lower", "title", "capitalize", "trim", "string", "length", "list", "first", "last", "join",
    "join('-')", "reverse|list",
    "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))",
    "tojson(sort_keys=true)", "int", "int(3)", "float", "round(1)",
    "round", "abs", "sum", "sort", "sort(reverse=true)", "unique|list", "min", "max", "default('x')",
    "default('y', true)", "replace('a', 'z')",
    "replace('o', '0', 1)", "indent(2)", "indent(2, true)", "wordcount", "truncate(6)", "truncate(5, true, '')",
    "center(12)", "urlencode", "escape",
    "dictsort", "items|list", "map('upper')|list", "map('string')|join(',')", "map('tojson')|list", "select|list",
    "select('string')|list", "reject('none')|list",
    "batch(2)|list", "slice(2)|list", "map(attribute='name')|list", "selectattr('ok')|list|length",
    "map('int')|sum", "format(1)", "safe", "groupby('age')|length",
]
TESTS = [
    "defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence",
    "iterable", "callable", "true", "false",
    "odd", "even", "divisibleby(3)", "upper", "lower", "eq(1)", "ne('')", "in([1, 'a', none])", "sameas(none)",
    "not none", "not string", "gt(1)",
]
ITEMS = [
    "[0]", "[-1]", "[1:]", "[::-1]", "[:2]", "['a']", ".a", ".name", ".items is defined", "['keys'] is defined",
    "[9]", ".b[0]",
]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">=", "and", "or", "in", "not in"]


def expression(pick, depth):
    kind = pick.choices(list(VALUES), [6, 4, 4, 3, 1])[0]
    made = pick.choice(VALUES[kind])
    if depth > 0:
        way = pick.random()
        inner = expression(pick, depth - 1)
        if way < 0.3:
            methods = METHODS if kind != "map" else METHODS[-8:]
            made = f"({inner if pick.random() < 0.4 else made}).{pick.choice(methods)}"
        elif way < 0.65:
            made = f"({inner if pick.random() < 0.5 else made})|{pick.choice(FILTERS)}"
        elif way < 0.75:
            made = f"({inner}) is {pick.choice(TESTS)}"
        elif way < 0.83:
            made = f"({inner}){pick.choice(ITEMS)}"
        elif way < 0.87:
            made = f"({inner}) if ({made}) else ({expression(pick, 0)})"
        elif way < 0.9:
            texts, numbers = f"'%s|%r|%5s' % (({made}), ({inner}), n)", f"'%.3f %d %x' % (f, {inner}, n)"
            made = texts if pick.random() < 0.5 else numbers
        else:
            made = f"({made}) {pick.choice(BINARY)} ({inner})"
    return made


def cases(count, seed, render):
    pick = random.Random(seed)
    made = []
    while len(made) < count:
        template = "{{ " + expression(pick, pick.choice([1, 1, 2, 2, 3])) + " }}"
        case = {"template": template, **render(template, CONTEXT)}
        # a printed address, and sets of views, are no texts that a template means
        if any(word in case.get("output", "") for word in (" at 0x", "dict_", "generator", "Undefined", "Markup(")):
            continue
        made.append(case)
    return {"context": CONTEXT, "cases": made}
