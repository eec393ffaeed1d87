"""Compares Grammata's reading of Lark grammars with the Python package Lark: `cargo xtask full lark`.

    compare.py PROGRAM GRAMMARS TEXTS SEED

Draws GRAMMARS random grammars of the notation that both read. For each, TEXTS texts (words of the grammar, words with a
change, and random texts) are checked with both; and TEXTS words that Grammata draws are parsed by Lark. The parser is
Earley with the lexer `dynamic_complete`, which tries every division into terminals, as Grammata's reading does.

Known differences are left out of the grammars and texts; docs/syntax.md lists them:
- Lark ignores text before the first terminal, so no text begins with ignored text;
- Lark's `%override` of a terminal does not reach other imported terminals (findings/lark_override_in_terminals.sh), so
  only terminals that no other one names are overridden;
- a grammar without words is an error of Grammata, so Lark must refuse all texts;
- of a terminal that matches at a place, Lark tries the match of Python's regular expressions, and the matches in it, so
  `"cb" | /c+/` never matches `cb`. Here it tries all texts that the terminal matches as a whole, and the words that its
  own matches miss are counted.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import lark

LETTERS = "abc"
IGNORED = " "


class Grammar:
    """A random grammar: its files by name, and words of its rules."""

    def __init__(self, rng):
        self.rng = rng
        self.terminals = {}
        self.rules = {}
        self.templates = {}
        self.ignores = rng.random() < 0.3
        self.library = rng.random() < 0.4
        for n in range(rng.randint(1, 4)):
            self.terminals[f"T{n}"] = self.terminal_body(list(self.terminals))
        if rng.random() < 0.5:
            self.templates["_sep"] = None
        count = rng.randint(2, 5)
        for n in range(count):
            self.rules[f"r{n}"] = None
        for n in range(count):
            self.rules[f"r{n}"] = self.choice(2, n)

    # a tree: ("text", t, ignores_case), ("name", n), ("class", letters, least), ("range", a, b), ("seq", […]),
    # ("or", […]), ("repeat", tree, least, most), ("sep", item, separator)

    def literal(self):
        text = "".join(self.rng.choice(LETTERS) for _ in range(self.rng.randint(1, 3)))
        return ("text", text, self.rng.random() < 0.2)

    def terminal_body(self, known):
        ways = [self.terminal_part(known) for _ in range(self.rng.randint(1, 2))]
        parts = [self.terminal_part(known) for _ in range(self.rng.randint(1, 2))]
        return self.rng.choice([("or", ways), ("seq", parts), parts[0]])

    def terminal_part(self, known):
        kind = self.rng.randint(0, 5 if known else 4)
        if kind <= 1:
            return self.literal()
        if kind == 2:
            letters = "".join(sorted(self.rng.sample(LETTERS, self.rng.randint(1, 2))))
            return ("class", letters, 1)
        if kind == 3:
            low, high = sorted(self.rng.sample(LETTERS, 2))
            return ("range", low, high)
        if kind == 4:
            least = self.rng.randint(1, 2)
            return ("repeat", self.literal(), least, self.rng.choice([None, least, least + 1]))
        return ("name", self.rng.choice(known))

    def choice(self, depth, rule):
        ways = [self.sequence(depth, rule) for _ in range(self.rng.randint(1, 3))]
        return ("or", ways)

    def sequence(self, depth, rule):
        return ("seq", [self.part(depth, rule) for _ in range(self.rng.randint(0 if depth < 2 else 1, 3))])

    def part(self, depth, rule):
        kind = self.rng.randint(0, 9)
        if kind <= 2 or depth == 0:
            return self.rng.choice([("name", self.rng.choice(list(self.terminals))), self.literal()])
        if kind <= 4:
            # rules refer to later ones, and sometimes to any
            later = list(self.rules)[rule + 1 :]
            names = list(self.rules) if self.rng.random() < 0.3 or not later else later
            return ("name", self.rng.choice(names))
        if kind == 5 and self.templates:
            return ("sep", self.value(rule), self.literal())
        if kind <= 7:
            least, most = self.rng.choice([(0, 1), (0, None), (1, None), (2, 2), (1, 3)])
            return ("repeat", self.part(depth - 1, rule), least, most)
        if kind == 8:
            return self.choice(depth - 1, rule)
        return ("maybe", self.choice(depth - 1, rule))

    def value(self, rule):
        later = list(self.rules)[rule + 1 :]
        return ("name", self.rng.choice(later or list(self.terminals)))

    def written(self, tree):
        kind = tree[0]
        if kind == "text":
            return f'"{tree[1]}"' + ("i" if tree[2] else "")
        if kind == "name":
            return tree[1]
        if kind == "class":
            return f"/[{tree[1]}]+/"
        if kind == "range":
            return f'"{tree[1]}".."{tree[2]}"'
        if kind == "seq":
            return " ".join(self.written(part) for part in tree[1])
        if kind == "or":
            return "(" + " | ".join(self.written(way) for way in tree[1]) + ")"
        if kind == "maybe":
            return "[" + self.written(tree[1]) + "]"
        if kind == "sep":
            return f"_sep{{{self.written(tree[1])}, {self.written(tree[2])}}}"
        body, least, most = tree[1], tree[2], tree[3]
        body = self.written(body)
        if body[-1] in "?*+" or "~" in body or " " in body:
            body = f"({body})"
        marks = {(0, 1): "?", (0, None): "*", (1, None): "+"}
        if (least, most) in marks:
            return body + marks[least, most]
        if most is None:
            return f"{body}~{least} {body}*"
        return f"{body}~{least}" if least == most else f"{body}~{least}..{most}"

    def files(self):
        """The texts of the grammar and of the library that it may import."""
        top = lambda tree: self.written(tree)[1:-1] if tree[0] == "or" else self.written(tree)
        rules = {name: top(tree) for name, tree in self.rules.items()}
        terminals = {name: top(tree) for name, tree in self.terminals.items()}
        sep = "_sep{item, sep}: item (sep item)*\n" if self.templates else ""
        start = ["start: r0"]
        if self.ignores:
            start.append(f'%ignore "{IGNORED}"')
        if not self.library:
            lines = [f"{name}: {body}" for name, body in {**rules, **terminals}.items()]
            return {"main.lark": "\n".join(start + lines) + "\n" + sep}
        # the library has the terminals, of which the grammar changes the first
        first = next(iter(terminals))
        lines = [f"{name}: {body}" for name, body in rules.items()]
        change = []
        library = dict(terminals)
        is_used = any(re.search(rf"\b{first}\b", body) for name, body in terminals.items() if name != first)
        if self.rng.random() < 0.5 and not is_used:
            change.append(f"%override {first}: {library[first]}")
            library[first] = '"abcabc"'
        else:
            change.append(f'%extend {first}: "cab"')
            self.terminals[first] = ("or", [self.terminals[first], ("text", "cab", False)])
        imports = [f"%import .lib ({', '.join(library)})"]
        own = "\n".join(start + imports + change + lines) + "\n" + sep
        return {"main.lark": own, "lib.lark": "\n".join(f"{n}: {b}" for n, b in library.items()) + "\n"}

    def word(self, tree=None, depth=0, in_terminal=False):
        """A random word; `None` if the derivation is too deep."""
        tree = tree or ("name", "r0")
        if depth > 14:
            return None
        kind = tree[0]
        rng = self.rng
        if kind == "text":
            text = tree[1]
            if tree[2]:
                text = "".join(rng.choice([c, c.upper()]) for c in text)
            return self.spaced(text, in_terminal)
        if kind == "class":
            return self.spaced("".join(rng.choice(tree[1]) for _ in range(rng.randint(1, 3))), in_terminal)
        if kind == "range":
            return self.spaced(chr(rng.randint(ord(tree[1]), ord(tree[2]))), in_terminal)
        if kind == "name":
            if tree[1] in self.rules:
                return self.word(self.rules[tree[1]], depth + 1)
            text = self.word(self.terminals[tree[1]], depth + 1, True)
            return None if text is None else self.spaced(text, in_terminal)
        if kind in ("or", "maybe"):
            if kind == "maybe":
                return "" if rng.random() < 0.5 else self.word(tree[1], depth, in_terminal)
            return self.word(rng.choice(tree[1]), depth, in_terminal)
        if kind == "sep":
            parts = [tree[1]] + [tree[2], tree[1]] * rng.randint(0, 2)
        elif kind == "repeat":
            least, most = tree[2], tree[3]
            parts = [tree[1]] * rng.randint(least, least + 2 if most is None else most)
        else:
            parts = tree[1]
        words = [self.word(part, depth + 1, in_terminal) for part in parts]
        return None if None in words else "".join(words)

    def spaced(self, text, in_terminal):
        if in_terminal or not self.ignores or self.rng.random() < 0.7:
            return text
        return text + IGNORED * self.rng.randint(1, 2)

    def texts(self, count):
        alphabet = LETTERS + LETTERS.upper()[:1] + (IGNORED if self.ignores else "")
        texts = []
        while len(texts) < count:
            word = self.word() if self.rng.random() < 0.7 else None
            if word is None or len(word) > 24:
                word = "".join(self.rng.choice(alphabet) for _ in range(self.rng.randint(0, 7)))
            elif self.rng.random() < 0.5 and word:
                at = self.rng.randrange(len(word))
                put = self.rng.choice(["", self.rng.choice(alphabet)])
                word = word[:at] + put + word[at + self.rng.randint(0, 1) :]
            if not word.startswith(IGNORED):
                texts.append(word)
        return texts


class Matcher(lark.parser_frontends.EarleyRegexpMatcher):
    """Matches terminals as a whole, the longest text first. The parser asks again for each shorter text."""

    tries_all = True

    def match(self, term, text, index=0):
        regexp = self.regexps[term.name]
        if not Matcher.tries_all:
            return regexp.match(text, index)
        ends = range(len(text), index, -1)
        return next(filter(None, (regexp.fullmatch(text, index, end) for end in ends)), None)


lark.parser_frontends.EarleyRegexpMatcher = Matcher


def parser_of(folder, text, start="start"):
    options = {"parser": "earley", "lexer": "dynamic_complete", "import_paths": [str(folder)], "start": start}
    return lark.Lark(text, source_path=str(folder / "main.lark"), **options)


def accepts(parser, text, tries_all=True):
    Matcher.tries_all = tries_all
    try:
        parser.parse(text)
        return True
    except lark.exceptions.UnexpectedInput:
        return False


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


def verdicts(program, grammar, texts):
    """Whether Grammata accepts each text."""
    done = run(program, "check", grammar, "--exact", *(f"--text={text}" for text in texts))
    found = re.findall(r"^--text \d+: (accepted|rejected)$", done.stdout, re.MULTILINE)
    if len(found) != len(texts):
        raise RuntimeError(done.stdout + done.stderr)
    return [verdict == "accepted" for verdict in found]


def words(program, grammar, count, seed):
    """Words that Grammata draws; `None` if there are none."""
    done = run(program, "sample", grammar, "--words", count, "--max-bytes", 16, "--seed", seed)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else None


def main():
    program, grammars, count, seed = sys.argv[1], *map(int, sys.argv[2:])
    rng = random.Random(seed)
    differences, compared, drawn, unread, empty, accepted, narrow = [], 0, 0, 0, 0, 0, 0
    done = 0
    while done < grammars:
        grammar = Grammar(rng)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            files = grammar.files()
            for file, text in files.items():
                (folder / file).write_text(text)
            try:
                parser = parser_of(folder, files["main.lark"])
            except (lark.exceptions.GrammarError, lark.exceptions.ConfigurationError) as error:
                unread += 1
                # Lark expands optional parts, and refuses equal expansions
                if "Rules defined twice" not in str(error):
                    differences.append((files, "lark refuses", str(error)))
                continue
            path = folder / "main.lark"
            texts = grammar.texts(count)
            ours = words(program, path, count, done)
            if ours is None:
                empty += 1
                reason = run(program, "count", path).stderr
                if "automaton/empty-language" not in reason or any(accepts(parser, text) for text in texts):
                    differences.append((files, "no words", reason))
                continue
            done += 1
            for text, found in zip(texts, verdicts(program, path, texts)):
                expected = accepts(parser, text)
                compared += 1
                accepted += expected
                narrow += expected and not accepts(parser, text, tries_all=False)
                if found != expected:
                    differences.append((files, text, f"lark: {expected}, grammata: {found}"))
            for text in ours:
                if text.startswith(IGNORED):
                    continue
                drawn += 1
                if not accepts(parser, text):
                    differences.append((files, text, "drawn by grammata, refused by lark"))
    for files, text, what in differences[:20]:
        print(f"--- {what}: {text!r}")
        for file, source in files.items():
            print(f"[{file}]\n{source}")
    print(f"{done} grammars ({unread} more that Lark refuses, {empty} without words), {drawn} words drawn,", end=" ")
    print(f"{compared} texts ({accepted} accepted; Lark's own matches miss {narrow} of them):", end=" ")
    print(f"{len(differences)} differences")
    return len(differences) > 0 or compared < grammars * count


if __name__ == "__main__":
    sys.exit(main())
