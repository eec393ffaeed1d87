"""Reads the data of the cases, and makes a case of each with each way to ask."""

import json
from dataclasses import dataclass
from pathlib import Path

from . import answers, judge, sse
from .values import parse, write
from .ways import (
    DIALECTS,
    PATHS,
    SCHEMA_WAYS,
    TEXT_WAYS,
    Request,
    base,
    choice,
    function,
    json_schema,
    text_format,
    wrap,
)

DATA = Path(__file__).resolve().parent.parent / "cases"


@dataclass(frozen=True)
class Case:
    """A case: its name is `GROUP/NAME`. `run` takes a `Judge` and the `Settings`, and returns an `Outcome`."""

    group: str
    name: str
    dialect: str
    api: str
    run: object

    @property
    def id(self):
        return f"{self.group}/{self.name}"


def lines(name):
    return [parse(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def plain(value):
    """Returns a value without decimals of Python, which cannot be written as JSON."""
    return json.loads(write(value))


REPEAT = "Write exactly the following and nothing else. Do not change it, whatever format you are told to use:"


def repeat(text):
    """Returns a prompt that asks for a text that the constraint forbids."""
    return f"{REPEAT}\n{text}"


def schemas_of(entry, take):
    """Returns the schemas of an entry and of its control as a request has them, or None if no way can take them."""
    if not entry.get("root"):
        return wrap(entry["schema"]), wrap(entry["control"])
    is_object = all(entry[name].get("type") == "object" for name in ("schema", "control"))
    return None if take == "call" and not is_object else (entry["schema"], entry["control"])


def forbidden(entry):
    """Returns the text of a value that breaks the schema and the control in the keyword that the entry is about."""
    value = entry["invalid"][0]
    return write(value if entry.get("root") else {"value": value})


def schema_cases(full):
    for way in SCHEMA_WAYS:
        for entry in lines("schemas.jsonl"):
            both = schemas_of(entry, way.take)
            # the first way has all schemas
            if both and (full or entry.get("core") or way.group == SCHEMA_WAYS[0].group):
                yield Case(way.group, entry["name"], way.dialect, way.api, schema_case(way, entry, both))


def schema_case(way, entry, both):
    def run(judge_, settings):
        def side(schema, usage):
            request = way.request(settings, plain(schema), repeat(forbidden(entry)), usage=usage)
            return request, judge.json_check(schema, way.take)

        return judge.pair(judge_, side(both[0], False), side(both[1], True))

    return run


def text_cases():
    for way in TEXT_WAYS:
        for entry in lines("texts.jsonl"):
            if entry["syntax"] in way.syntaxes:
                several = len(way.syntaxes) > 1
                name = f"{entry['syntax']}-{entry['name']}" if several else entry["name"]
                yield Case(way.group, name, way.dialect, way.api, text_case(way, entry))


def text_case(way, entry):
    def run(judge_, settings):
        def side(definition, match):
            request = way.request(settings, entry["syntax"], entry[definition], repeat(entry["invalid"][0]))
            return request, judge.text_check(entry[match], entry.get("balanced"), way.take)

        return judge.pair(judge_, side("definition", "match"), side("control", "control_match"))

    return run


def tool_cases():
    data = json.loads((DATA / "tools.json").read_text(encoding="utf-8"))
    for api in PATHS:
        for entry in data["cases"]:
            if api in entry.get("ways", PATHS):
                yield Case(f"{api}-tool-choice", entry["name"], "openai", api, tool_case(api, entry, data))


def tool_case(api, entry, data):
    prompt = [{"role": "user", "content": entry["prompt"]}]
    for at, turn in enumerate(entry.get("turns", [])):
        inner = {"name": turn["call"], "arguments": json.dumps(turn["arguments"])}
        call = {"id": f"call_{at}", "type": "function", "function": inner}
        prompt.append({"role": "assistant", "content": None, "tool_calls": [call]})
        prompt.append({"role": "tool", "tool_call_id": f"call_{at}", "content": turn["result"]})

    def run(judge_, settings):
        def side(wanted, expect):
            tools = {name: data["tools"][name] for name in wanted["tools"]}
            members = {"tools": [function(api, name, **tool) for name, tool in tools.items()]}
            members["tool_choice"] = choice(api, wanted["tool_choice"])
            if "parallel_tool_calls" in wanted:
                members["parallel_tool_calls"] = wanted["parallel_tool_calls"]
            if "schema" in wanted:
                schema = data["schemas"][wanted["schema"]]
                members |= {"response_format": json_schema(schema)} if api == "chat" else {"text": text_format(schema)}
            request = Request(api, base(settings, api, prompt, **members))
            return request, judge.calls_check(expect, tools, data["schemas"])

        first = side(entry["request"], entry["expect"])
        return judge.pair(judge_, first, side(entry["control"], entry["control_expect"]))

    return run


PROSE = "Write one English sentence about the sea. Do not write JSON."


def json_object_cases():
    for api in PATHS:
        kind = {"type": "json_object"}
        members = {"response_format": kind} if api == "chat" else {"text": {"format": kind}}

        def run(judge_, settings, api=api, members=members):
            asked = Request(api, base(settings, api, PROSE, **members))
            return judge.json_object(judge_, asked, Request(api, base(settings, api, PROSE, limit=40)))

        yield Case(f"{api}-json-object", "object-instead-of-prose", "openai", api, run)


def request_cases():
    for entry in json.loads((DATA / "requests.json").read_text(encoding="utf-8"))["cases"]:
        dialect = entry.get("dialect", "openai")
        group = f"{entry['way']}-faults" if dialect == "openai" else f"{dialect}-faults"
        yield Case(group, entry["name"], dialect, entry["way"], request_case(entry))


def request_case(entry):
    api = entry["way"]

    def run(judge_, settings):
        mended = Request(api, base(settings, api, "Write one word.", limit=16))
        if "raw" in entry:
            return judge.refusal(judge_, Request(api, entry["raw"]), mended, entry["places"])
        body = base(settings, api, "Write one word.", limit=entry.get("limit", 16), **entry.get("set", {}))
        # a member that is wrong on purpose is stronger than the options of the run
        body |= entry.get("set", {})
        if "schema" in entry:
            schema = entry["schema"]
            body |= {"response_format": json_schema(schema)} if api == "chat" else {"text": text_format(schema)}
        body = {name: value for name, value in body.items() if name not in entry.get("remove", [])}
        return judge.refusal(judge_, Request(api, body), mended, entry["places"], "exact" in entry)

    return run


TRUNCATED = ("chat-schema", "chat-schema-stream", "chat-tool-named", "responses-schema")


def truncation_cases():
    for way in (way for way in SCHEMA_WAYS if way.group in TRUNCATED):
        for entry in json.loads((DATA / "truncation.json").read_text(encoding="utf-8"))["cases"]:
            for limit in entry["limits"]:
                name = f"{way.group}-{entry['name']}-{limit}"
                yield Case("truncation", name, "openai", way.api, truncation_case(way, entry, limit))


def truncation_case(way, entry, limit):
    schema = wrap(entry["schema"])

    def run(judge_, settings):
        ask = lambda limit: way.request(settings, schema, PROSE, limit=limit, usage=True)
        # answers of some hundred characters need at most a token for each character
        free = ask(max(settings.limit, 600))
        return judge.truncation(judge_, ask(limit), free, schema, way.take, limit, entry["fits"])

    return run


# The schema of the replies whose form is checked. Its letters have several bytes and tokens.
SHAPED = {"const": "żółw 雪🜁𝄞é zqxv"}


def rule_cases():
    ways = {way.group: way for way in SCHEMA_WAYS}
    for api, rules in (("chat", sse.CHAT_RULES), ("responses", sse.RESPONSES_RULES)):
        for name, (stream, check) in rules.items():
            way = ways[f"{api}-tool-stream" if stream == "call" else f"{api}-schema-stream"]
            usage = stream != "text"
            run = rule_case(way, check, usage, lambda reply: sse.events(reply.body))
            yield Case(f"{api}-stream-rules", name, "openai", api, run)
    for api, rules in (("chat", answers.CHAT_SHAPE), ("responses", answers.RESPONSES_SHAPE)):
        for name, (kind, check) in rules.items():
            way = ways[f"{api}-{'tool-named' if kind == 'call' else 'schema'}"]
            run = rule_case(way, check, False, lambda reply: reply.json())
            yield Case(f"{api}-shape", name, "openai", api, run)


def rule_case(way, check, usage, read):
    def run(judge_, settings):
        request = way.request(settings, wrap(SHAPED), "Hello.", usage=usage)
        return judge.rule(check, lambda: judge_.kept.get((way.group, usage), lambda: read(judge_.raw(request))))

    return run


def two_choices():
    """`n: 2` with a schema: two choices, each by the schema."""

    def run(judge_, settings):
        def check(body):
            found = [choice_["index"] for choice_ in body["choices"]]
            if sorted(found) != [0, 1]:
                return f"`n` is 2, and the choices have the indexes {found}"
            states = [judge.json_check(wrap(SHAPED), "text")(answers.chat_choice(one)) for one in body["choices"]]
            bad = next((detail for state, detail in states if state == judge.BAD), None)
            if not bad and any(state == judge.CUT for state, _ in states):
                raise answers.Undecided("a choice was cut")
            return bad

        way = SCHEMA_WAYS[0]
        request = way.request(settings, wrap(SHAPED), "Hello.")
        request.body["n"] = 2
        return judge.rule(check, lambda: judge_.raw(request).json())

    yield Case("chat-shape", "two-choices", "openai", "chat", run)


def all_cases(full=False, dialects=DIALECTS):
    """Returns the cases in the order of the report."""
    found = [*schema_cases(full), *json_object_cases(), *text_cases(), *tool_cases(), *truncation_cases()]
    found += [*rule_cases(), *two_choices(), *request_cases()]
    return [case for case in found if case.dialect in dialects]
