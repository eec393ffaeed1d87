"""The OpenAI SDK: the tools of a chat completion are what is open. A refused call is answered with the reason."""

import json
from typing import Any

import httpx2 as httpx  # the client library of this version of the SDK
from library import APIS, PROCEDURE, REQUEST, SCRIPT
from openai import OpenAI

session = PROCEDURE.session()
asked: list[dict[str, Any]] = []


def serve(request: httpx.Request) -> httpx.Response:
    """Plays the server."""
    body = json.loads(request.content)
    asked.append(body)
    print("open:", ", ".join(tool["function"]["name"] for tool in body["tools"]))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if len(asked) > len(SCRIPT):
        message["content"] = next(node.text for node in session.open() if node.is_closing)
    else:
        name, arguments = SCRIPT[len(asked) - 1]
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": str(len(asked)), "type": "function", "function": function}]
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    completion = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return httpx.Response(200, json=completion)


transport = httpx.Client(transport=httpx.MockTransport(serve))
client = OpenAI(base_url="http://localhost/v1", api_key="none", http_client=transport)

# the example
session.hear(REQUEST)
messages: list[Any] = [{"role": "user", "content": REQUEST}]
while True:
    completion = client.chat.completions.create(model="m", messages=messages, tools=session.tools())
    message = completion.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        arguments = json.loads(call.function.arguments)
        if obstacle := session.call(call.function.name, arguments):
            content = f"refused: {obstacle}"
        else:
            api = APIS[call.function.name]
            result = api(**arguments)
            session.result(result)
            content = json.dumps(result)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
# the end of the example

for message in messages:
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls", [])]
    print(f"{message['role']}:", message.get("content") or ", ".join(calls))
session.say("lent")
print("complete:", session.is_complete, "valid:", PROCEDURE.verify(session.log).is_valid)
