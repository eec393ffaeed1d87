"""Tests the guard with the official Python client and a real server: client.py GRAMMATA FOLDER SCRATCH.

FOLDER has the servers in node_modules. The procedures are in the folder of this file.
"""

import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

HERE = Path(__file__).parent
SESSIONS = 20


def names(listed):
    return [tool.name for tool in listed.tools]


def text(result):
    return "\n".join(getattr(item, "text", "") for item in result.content)


async def session(grammata, server, log):
    """Runs a session with the guard that `server` describes, then verifies the log at the path `log()`."""
    async with Client(server) as client:
        assert "weather_message" in (client.instructions or ""), client.instructions
        assert names(await client.list_tools()) == ["get-structured-content"]
        early = await client.call_tool("echo", {"message": "x"})
        assert early.is_error and "precondition look_up" in text(early), early
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
    verify = [grammata, "procedure", "verify", str(HERE / "weather.yaml"), str(log())]
    written = subprocess.run(verify, capture_output=True, text=True, check=True).stdout
    assert written == "valid: 3 steps, complete\n", written


MAPS = ["--map", "look_up=get-structured-content", "--map", "send=echo"]


async def by_http(grammata, everything, logs):
    """Runs `session` with HTTP on both sides of the guard: from the client, and to the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shutil.rmtree(logs, ignore_errors=True)
    environment = {**os.environ, "PORT": str(port)}
    server = subprocess.Popen(["node", everything, "streamableHttp"], env=environment, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    url = f"http://127.0.0.1:{port}/mcp"
    listen = ["guard", str(HERE / "weather.yaml"), *MAPS, "--ask", "agent", "--http", url, "--listen", "127.0.0.1:0"]
    guard = subprocess.Popen([grammata, *listen, "--logs", str(logs)], stderr=subprocess.PIPE, text=True)
    try:
        address = guard.stderr.readline().split()[-1]
        await session(grammata, address, lambda: next(iter(logs.iterdir())))
    finally:
        guard.terminate()
        server.terminate()


async def times(command, arguments):
    """Returns the seconds that calls take.

    Each of the sessions makes two calls with different arguments, because a procedure does not allow a call to be
    repeated.
    """
    taken = []
    for _ in range(SESSIONS):
        async with Client(StdioServerParameters(command=command, args=arguments)) as client:
            await client.list_tools()
            for location in ["Chicago", "New York"]:
                begin = time.perf_counter()
                result = await client.call_tool("get-structured-content", {"location": location})
                taken.append(time.perf_counter() - begin)
                assert not result.is_error, result
    return taken


async def main():
    grammata, folder, scratch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    everything = folder / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    log = scratch / "python.jsonl"
    log.unlink(missing_ok=True)
    guarded = ["guard", str(HERE / "weather.yaml"), *MAPS, "--ask", "agent", "--", "node", str(everything)]
    logging = [*guarded[:2], "--log", str(log), *guarded[2:]]
    await session(grammata, StdioServerParameters(command=grammata, args=logging), lambda: log)
    await by_http(grammata, everything, scratch / "python-http")
    plain = await times("node", [str(everything)])
    held = await times(grammata, guarded)
    for name, taken in [("without the guard", plain), ("with the guard", held)]:
        taken.sort()
        p50, p99 = statistics.median(taken), taken[int(len(taken) * 0.99)]
        print(f"{name}: p50 {p50 * 1000:.2f} ms, p99 {p99 * 1000:.2f} ms of {len(taken)} calls")
    print("Python client: as expected")


asyncio.run(main())
