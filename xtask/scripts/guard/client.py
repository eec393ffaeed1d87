"""The official Python client with a real server behind the guard: client.py GRAMMATA FOLDER SCRATCH.

FOLDER has the servers in node_modules; this file's folder has the procedures.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

HERE = Path(__file__).parent
CALLS = 200


def names(listed):
    return [tool.name for tool in listed.tools]


def text(result):
    return "\n".join(getattr(item, "text", "") for item in result.content)



async def session(grammata, everything, log):
    log.unlink(missing_ok=True)
    maps = ["--map", "look_up=get-structured-content", "--map", "send=echo"]
    arguments = ["guard", str(HERE / "weather.yaml"), "--log", str(log), *maps, "--", "node", str(everything)]
    async with Client(StdioServerParameters(command=grammata, args=arguments)) as client:
        assert "weather_message" in (client.instructions or ""), client.instructions
        assert names(await client.list_tools()) == ["get-structured-content"]
        early = await client.call_tool("echo", {"message": "x"})
        assert early.is_error and "precondition look_up" in text(early), early
        weather = await client.call_tool("get-structured-content", {"location": "Chicago"})
        assert not weather.is_error and weather.structured_content["conditions"], weather
        assert (await client.list_resources()).resources
        said = await client.call_tool("guard_say", {"answer": "propose"})
        assert "Shall I send it?" in text(said), said
        await client.call_tool("guard_decide", {"slot": "agreed", "value": False})
        late = await client.call_tool("echo", {"message": "x"})
        assert late.is_error and "guard agreed == true" in text(late), late
        ended = await client.call_tool("guard_say", {"answer": "dropped"})
        assert "The procedure is complete" in text(ended), ended
    verify = [grammata, "procedure", "verify", str(HERE / "weather.yaml"), str(log)]
    written = subprocess.run(verify, capture_output=True, text=True, check=True).stdout
    assert written == "valid: 3 steps, complete\n", written


async def times(command, arguments):
    """Seconds of calls, one after another."""
    taken = []
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        await client.list_tools()
        for number in range(CALLS):
            location = ["Chicago", "New York"][number % 2]
            begin = time.perf_counter()
            result = await client.call_tool("get-structured-content", {"location": location})
            taken.append(time.perf_counter() - begin)
            assert not result.is_error, result
    return taken


async def main():
    grammata, folder, scratch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    everything = folder / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    await session(grammata, everything, scratch / "python.jsonl")
    maps = ["--map", "look_up=get-structured-content", "--map", "send=echo"]
    guarded = ["guard", str(HERE / "weather.yaml"), *maps, "--", "node", str(everything)]
    plain = await times("node", [str(everything)])
    held = await times(grammata, guarded)
    for name, taken in [("without the guard", plain), ("with the guard", held)]:
        taken.sort()
        p50, p99 = statistics.median(taken), taken[int(len(taken) * 0.99)]
        print(f"{name}: p50 {p50 * 1000:.2f} ms, p99 {p99 * 1000:.2f} ms of {CALLS} calls")
    print("Python client: as expected")


asyncio.run(main())
