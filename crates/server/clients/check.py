"""Asks a server through a client that people use: openai, instructor or pydantic-ai.

The answers are checked by the clients themselves: openai validates each reply against its types
(`_strict_response_validation`), the others read it into a model.

    python check.py URL CLIENT
"""

import enum
import sys
from typing import Annotated

import openai
import pydantic

URL, CLIENT = sys.argv[1:]
MODEL = "random"


class Kind(enum.Enum):
    ZQX = "zqx"
    WVU = "wvu"


class Thing(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    kind: Kind
    # of larger numbers random ones are integers that have no type in Python: 1e300
    sizes: list[Annotated[int, pydantic.Field(ge=0, le=9)]] = pydantic.Field(min_length=1, max_length=3)


TOOL = {
    "type": "function",
    "function": {"name": "take", "strict": True, "parameters": Thing.model_json_schema()},
}
FLAT_TOOL = {"type": "function", **TOOL["function"]}


def openai_chat(client: openai.OpenAI) -> None:
    messages = [{"role": "user", "content": "A thing, please."}]
    parsed = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Thing, max_tokens=200)
    assert isinstance(parsed.choices[0].message.parsed, Thing)
    with client.chat.completions.stream(
        model=MODEL, messages=messages, response_format=Thing, max_tokens=200
    ) as stream:
        for _ in stream:
            pass
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, Thing)
    called = client.chat.completions.create(
        model=MODEL, messages=messages, tools=[TOOL], tool_choice="required", max_tokens=300
    )
    (first, *_) = called.choices[0].message.tool_calls
    Thing.model_validate_json(first.function.arguments)
    scored = client.chat.completions.create(
        model=MODEL, messages=messages, logprobs=True, top_logprobs=2, max_tokens=4, n=2
    )
    assert len(scored.choices) == 2 and len(scored.choices[0].logprobs.content[0].top_logprobs) == 2
    try:
        client.chat.completions.create(model=MODEL, messages=messages, extra_body={"audio": {}})
    except openai.BadRequestError as error:
        assert error.param == "audio", error
    else:
        raise AssertionError("`audio` was not refused")
    assert [model.id for model in client.models.list()] == [MODEL]


def openai_responses(client: openai.OpenAI) -> None:
    parsed = client.responses.parse(model=MODEL, input="A thing, please.", text_format=Thing, max_output_tokens=200)
    assert isinstance(parsed.output_parsed, Thing)
    with client.responses.stream(
        model=MODEL, input="A thing, please.", text_format=Thing, max_output_tokens=200
    ) as stream:
        kinds = [event.type for event in stream]
        assert kinds[-1] == "response.completed", kinds
        assert isinstance(stream.get_final_response().output_parsed, Thing)
    called = client.responses.create(
        model=MODEL, input="Take it.", tools=[FLAT_TOOL], tool_choice="required", max_output_tokens=300
    )
    calls = [item for item in called.output if item.type == "function_call"]
    Thing.model_validate_json(calls[0].arguments)


def with_instructor(client: openai.OpenAI) -> None:
    import instructor

    for mode in [instructor.Mode.JSON_SCHEMA, instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT]:
        asked = instructor.from_openai(client, mode=mode)
        thing = asked.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "A thing, please."}],
            response_model=Thing,
            max_tokens=300,
            max_retries=0,
        )
        assert isinstance(thing, Thing)


def with_pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=URL, api_key="none")
    for model in [OpenAIChatModel(MODEL, provider=provider), OpenAIResponsesModel(MODEL, provider=provider)]:
        agent = Agent(model, output_type=Thing, retries=0)
        result = agent.run_sync("A thing, please.", model_settings={"max_tokens": 300})
        assert isinstance(result.output, Thing)


def main() -> None:
    client = openai.OpenAI(base_url=URL, api_key="none", max_retries=0, _strict_response_validation=True)
    match CLIENT:
        case "openai":
            openai_chat(client)
            openai_responses(client)
        case "instructor":
            with_instructor(client)
        case "pydantic-ai":
            with_pydantic_ai()
        case _:
            raise SystemExit(f"{CLIENT}: the clients are openai, instructor and pydantic-ai")
    print(f"{CLIENT}: ok")


main()
