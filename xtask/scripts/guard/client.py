"""Tests the guard with the official Python client and real servers: client.py GRAMMATA FOLDER SCRATCH.

FOLDER has the servers in node_modules, which speak versions up to 2025-11-25. The server of version 2026-07-28 and the
procedures are in the folder of this file.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

HERE = Path(__file__).parent
SESSIONS = 5
OLD, NEW = "2025-11-25", "2026-07-28"
PROCEDURE = str(HERE / "weather.yaml")
MAPS = ["--map", "look_up=get-structured-content", "--map", "send=echo"]
SERVER = [sys.executable, str(HERE / "server.py")]


def names(listed):
    return [tool.name for tool in listed.tools]


def text(result):
    return "\n".join(getattr(item, "text", "") for item in result.content)


def verify(grammata, log, expected):
    command = [grammata, "procedure", "verify", PROCEDURE, str(log)]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert written == expected, written


async def session(grammata, server, log):
    """Runs a session with the guard that `server` describes, then verifies the log at the path `log()`.

    The client tries version 2026-07-28 first, and falls back.
    """
    async with Client(server) as client:
        assert client.protocol_version == OLD, client.protocol_version
        assert "weather_message" in (client.instructions or ""), client.instructions
        assert names(await client.list_tools()) == ["get-structured-content"]
        early = await client.call_tool("echo", {"message": "x"})
        assert early.is_error and "precondition get-structured-content" in text(early), early
        weather = await client.call_tool("get-structured-content", {"location": "Chicago"})
        assert not weather.is_error and weather.structured_content["conditions"], weather
        assert (await client.list_resources()).resources
        said = await client.call_tool("guard_say", {"answer": "propose"})
        assert "Shall I send it?" in text(said), said
        await client.call_tool("guard_decide", {"agreed": False})
        late = await client.call_tool("echo", {"message": "x"})
        assert late.is_error and "guard agreed == true" in text(late), late
        ended = await client.call_tool("guard_say", {"answer": "dropped"})
        assert "The procedure is complete" in text(ended), ended
    verify(grammata, log(), "valid: 3 steps, complete\n")


async def asked(grammata, server, log, mode):
    """Runs a session in which the guard and the server ask the user.

    In version 2026-07-28, the questions are results, and the client hears on a stream that the tools have changed.
    """
    questions = []

    async def answer(_context, question):
        questions.append(question.message)
        return ElicitResult(action="accept", content=dict.fromkeys(question.requested_schema["properties"], True))

    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        is_new = client.protocol_version == NEW
        assert is_new or mode == "legacy", client.protocol_version
        assert names(await client.list_tools()) == ["look_up"]
        changes = client.listen(tools_list_changed=True) if is_new else None
        stream = await changes.__aenter__() if changes else None
        early = await client.call_tool("send", {"message": "x"})
        assert early.is_error and "precondition look_up" in text(early), early
        weather = await client.call_tool("look_up", {"location": "Chicago"})
        assert not weather.is_error and weather.structured_content["conditions"] == "Rain", weather
        if changes:
            await asyncio.wait_for(anext(stream), 10)
            await changes.__aexit__(None, None, None)
        said = await client.call_tool("guard_say", {"answer": "propose"})
        assert "The user decided agreed: true" in text(said), said
        sent = await client.call_tool("send", {"message": "Rain."})
        assert not sent.is_error and "Sent: Rain." in text(sent), sent
        assert questions == ["It is Rain at 7.0 degrees. Shall I send it?", "Send Rain.?"], questions
        assert not (await client.list_resources()).resources
    verify(grammata, log, "valid: 3 steps\n")


@contextlib.contextmanager
def http_server(command):
    """Runs a server, given its command for a port. Yields its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port)}
    server = subprocess.Popen(command(port), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()


async def by_http(grammata, everything, logs):
    """Runs `session` with HTTP on both sides of the guard: from the client, and to the server."""
    shutil.rmtree(logs, ignore_errors=True)
    with http_server(lambda _port: ["node", everything, "streamableHttp"]) as url:
        listen = ["guard", PROCEDURE, *MAPS, "--ask", "agent", "--http", url, "--listen", "127.0.0.1:0"]
        guard = subprocess.Popen([grammata, *listen, "--logs", str(logs)], stderr=subprocess.PIPE, text=True)
        try:
            address = guard.stderr.readline().split()[-1]
            await session(grammata, address, lambda: next(iter(logs.iterdir())))
        finally:
            guard.terminate()


async def by_version(grammata, log):
    """Runs `asked` in both versions, with the server on standard streams and by HTTP."""
    guarded = ["guard", PROCEDURE, "--log", str(log)]
    with http_server(lambda port: [*SERVER, str(port)]) as url:
        for mode in ["auto", NEW, "legacy"]:
            for server in [["--", *SERVER], ["--http", url]]:
                log.unlink(missing_ok=True)
                parameters = StdioServerParameters(command=grammata, args=[*guarded, *server])
                await asked(grammata, parameters, log, mode)


async def times(tool, commands):
    """Returns the median milliseconds of the calls with each of the commands of a server.

    Sessions alternate between the commands. The procedure allows the call to be repeated.
    """
    taken = [[] for _ in commands]
    for index in [*range(len(commands))] * SESSIONS:
        command, *arguments = commands[index]
        async with Client(StdioServerParameters(command=command, args=arguments)) as client:
            await client.list_tools()
            for location in ["Chicago", "New York"] * 25:
                begin = time.perf_counter()
                result = await client.call_tool(tool, {"location": location})
                taken[index].append(time.perf_counter() - begin)
                assert not result.is_error, result
    return [statistics.median(one) * 1000 for one in taken]


async def main():
    grammata, folder, scratch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    everything = folder / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    log = scratch / "python.jsonl"
    log.unlink(missing_ok=True)
    guarded = ["guard", PROCEDURE, *MAPS, "--ask", "agent", "--", "node", str(everything)]
    logging = [*guarded[:2], "--log", str(log), *guarded[2:]]
    await session(grammata, StdioServerParameters(command=grammata, args=logging), lambda: log)
    await by_http(grammata, everything, scratch / "python-http")
    await by_version(grammata, scratch / "python-version.jsonl")
    for version, tool, server, held in [
        (OLD, "get-structured-content", ["node", str(everything)], [grammata, *guarded]),
        (NEW, "look_up", SERVER, [grammata, "guard", PROCEDURE, "--", *SERVER]),
    ]:
        plain, with_guard = await times(tool, [server, held])
        added = with_guard - plain
        print(f"{version}: p50 {plain:.2f} ms, with the guard {with_guard:.2f} ms, added {added:.2f} ms")
    print("Python client: as expected")


asyncio.run(main())
