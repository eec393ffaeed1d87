"""An MCP server of version 2026-07-28 with the tools of weather.yaml: server.py [PORT].

`send` asks the user before it sends, by a result that asks. With a port the server uses HTTP, otherwise the standard
streams.
"""

import sys
from typing import Annotated

from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("weather", instructions="Looks up the weather.")


class Weather(BaseModel):
    temperature: float
    conditions: str
    humidity: float


class Consent(BaseModel):
    sure: bool


async def consent(message: str) -> Elicit[Consent]:
    return Elicit(f"Send {message}?", Consent)


@server.tool()
def look_up(location: str) -> Weather:
    """The weather of a city."""
    return Weather(temperature=len(location), conditions="Rain", humidity=82)


@server.tool()
def send(message: str, answer: Annotated[Consent, Resolve(consent)]) -> str:
    """Sends a message."""
    if not answer.sure:
        raise ValueError("not sent")
    return f"Sent: {message}"


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
