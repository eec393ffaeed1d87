"""The ways to ask for structured output: how each writes a request."""

from dataclasses import dataclass, field

PATHS = {"chat": "/chat/completions", "responses": "/responses"}
# The name of the schema, and of the function, in requests.
FUNCTION = "zq_answer"


@dataclass
class Settings:
    """What is equal in all requests of a run."""

    model: str
    limit: int = 400
    limit_name: str = "max_tokens"
    temperature: float | None = 0
    extra: dict = field(default_factory=dict)
    omit: frozenset = frozenset()


@dataclass
class Request:
    """A request, and where its structured answer is: `text` or the arguments of a `call`."""

    api: str
    body: dict | str
    take: str = "text"

    @property
    def path(self):
        return PATHS[self.api]

    @property
    def streams(self):
        return isinstance(self.body, dict) and self.body.get("stream") is True


def base(settings, api, prompt, limit=None, **members):
    """Returns the body of a request without a constraint."""
    limit = settings.limit if limit is None else limit
    messages = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    if api == "chat":
        body = {"model": settings.model, "messages": messages, settings.limit_name: limit}
    else:
        body = {"model": settings.model, "input": messages, "max_output_tokens": limit}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    body.update(members)
    body.update(settings.extra)
    return {name: value for name, value in body.items() if name not in settings.omit}


def json_schema(schema, strict=True):
    """Returns the `response_format` of a schema."""
    return {"type": "json_schema", "json_schema": {"name": FUNCTION, "strict": strict, "schema": schema}}


def text_format(schema, strict=True):
    """Returns the `text` member of the Responses API for a schema."""
    return {"format": {"type": "json_schema", "name": FUNCTION, "strict": strict, "schema": schema}}


def function(api, name, parameters, description="Takes the answer."):
    """Returns a tool."""
    inner = {"name": name, "description": description, "strict": True, "parameters": parameters}
    return {"type": "function", "function": inner} if api == "chat" else {"type": "function", **inner}


def custom(api, syntax, definition):
    """Returns a tool whose input is text by a grammar."""
    grammar = {"syntax": syntax, "definition": definition}
    inner = {"name": FUNCTION, "description": "Takes the answer."}
    if api == "chat":
        return {"type": "custom", "custom": {**inner, "format": {"type": "grammar", "grammar": grammar}}}
    return {"type": "custom", **inner, "format": {"type": "grammar", **grammar}}


def choice(api, wanted):
    """Returns a `tool_choice`: a word, {"named": NAME} or {"allowed": [NAME, …], "mode": MODE}."""
    if isinstance(wanted, str):
        return wanted
    named = lambda name: {"type": "function", **({"function": {"name": name}} if api == "chat" else {"name": name})}
    if "named" in wanted:
        return named(wanted["named"])
    inner = {"mode": wanted["mode"], "tools": [named(name) for name in wanted["allowed"]]}
    if api == "chat":
        return {"type": "allowed_tools", "allowed_tools": inner}
    return {"type": "allowed_tools", **inner}


def _format(schema, strict):
    return {"response_format": json_schema(schema, strict)}


def _tool(api, tool_choice):
    def members(schema):
        return {"tools": [function(api, FUNCTION, schema)], "tool_choice": choice(api, tool_choice)}

    return members


@dataclass(frozen=True)
class Way:
    """A way to ask for JSON by a schema: a group of cases."""

    group: str
    api: str
    members: object
    take: str = "text"
    dialect: str = "openai"
    stream: bool = False

    def request(self, settings, schema, prompt, limit=None, usage=False):
        members = dict(self.members(schema))
        if self.stream:
            members["stream"] = True
            if usage and self.api == "chat":
                members["stream_options"] = {"include_usage": True}
        return Request(self.api, base(settings, self.api, prompt, limit, **members), self.take)


NAMED = {"named": FUNCTION}
SCHEMA_WAYS = [
    Way("chat-schema", "chat", lambda schema: _format(schema, True)),
    Way("chat-schema-not-strict", "chat", lambda schema: _format(schema, False)),
    Way("chat-schema-stream", "chat", lambda schema: _format(schema, True), stream=True),
    Way("chat-tool-named", "chat", _tool("chat", NAMED), "call"),
    Way("chat-tool-required", "chat", _tool("chat", "required"), "call"),
    Way("chat-tool-stream", "chat", _tool("chat", NAMED), "call", stream=True),
    Way("responses-schema", "responses", lambda schema: {"text": text_format(schema)}),
    Way("responses-schema-stream", "responses", lambda schema: {"text": text_format(schema)}, stream=True),
    Way("responses-tool-named", "responses", _tool("responses", NAMED), "call"),
    Way("responses-tool-stream", "responses", _tool("responses", NAMED), "call", stream=True),
    Way("vllm-json", "chat", lambda schema: {"structured_outputs": {"json": schema}}, dialect="vllm"),
    Way("llama-cpp-json-schema", "chat", lambda schema: {"json_schema": schema}, dialect="llama-cpp"),
    Way(
        "llama-cpp-json-object",
        "chat",
        lambda schema: {"response_format": {"type": "json_object", "schema": schema}},
        dialect="llama-cpp",
    ),
]


def _custom(api):
    def members(syntax, definition):
        return {"tools": [custom(api, syntax, definition)], "tool_choice": "required"}

    return members


def _outputs(name):
    return lambda syntax, definition: {"structured_outputs": {name: definition}}


def _member(name):
    return lambda syntax, definition: {name: definition}


@dataclass(frozen=True)
class TextWay:
    """A way to ask for text by a grammar, with the syntaxes that it takes."""

    group: str
    api: str
    members: object
    syntaxes: tuple
    take: str = "text"
    dialect: str = "openai"

    def request(self, settings, syntax, definition, prompt):
        return Request(self.api, base(settings, self.api, prompt, **self.members(syntax, definition)), self.take)


TEXT_WAYS = [
    TextWay("chat-custom-tool", "chat", _custom("chat"), ("regex", "lark"), "call"),
    TextWay("responses-custom-tool", "responses", _custom("responses"), ("regex", "lark"), "call"),
    TextWay("vllm-regex", "chat", _outputs("regex"), ("regex",), dialect="vllm"),
    TextWay("vllm-grammar", "chat", _outputs("grammar"), ("gbnf",), dialect="vllm"),
    TextWay("vllm-choice", "chat", _outputs("choice"), ("choice",), dialect="vllm"),
    TextWay(
        "vllm-structural-tag",
        "chat",
        lambda syntax, tag: {"response_format": {"type": "structural_tag", "format": tag}},
        ("structural_tag",),
        dialect="vllm",
    ),
    TextWay("llama-cpp-grammar", "chat", _member("grammar"), ("gbnf",), dialect="llama-cpp"),
    TextWay("sglang-regex", "chat", _member("regex"), ("regex",), dialect="sglang"),
    TextWay("sglang-ebnf", "chat", _member("ebnf"), ("gbnf",), dialect="sglang"),
]
DIALECTS = ("openai", "vllm", "llama-cpp", "sglang")


def wrap(schema):
    """Returns the schema of an object whose only member `value` has a schema. Many servers take only objects."""
    inner = {name: part for name, part in schema.items() if name != "$defs"}
    outer = {"type": "object", "properties": {"value": inner}, "required": ["value"], "additionalProperties": False}
    return {**outer, "$defs": schema["$defs"]} if "$defs" in schema else outer
