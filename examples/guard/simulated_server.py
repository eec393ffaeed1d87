"""An MCP server on standard input and output that simulates the APIs of a procedure.

    python3 simulated_server.py SIMULATION.json

The tools are the APIs in the member `mock` of the file (as in grammars/procedures/simulations), which has their
results. The member `tools`, if there is one, is the list of tools with their descriptions and schemas. The script needs
only the standard library.
"""

import json
import sys


def same(left, right):
    """Whether two values are equal; the case of letters and spaces around the text do not count."""
    return str(left).strip().lower() == str(right).strip().lower()


def result(rows, arguments):
    """Returns the result of the first row whose conditions the arguments meet; {} if there is none."""
    for wanted, values in rows:
        if all(slot in arguments and same(arguments[slot], value) for slot, value in wanted.items()):
            return values
    return {}


def answer(simulation, method, params):
    """Returns the result of an MCP request; {} for a method that is not known."""
    mock = simulation["mock"]
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        info = {"name": "simulation", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        plain = [{"name": name, "inputSchema": {"type": "object"}} for name in mock]
        return {"tools": simulation.get("tools", plain)}
    if method == "tools/call":
        values = result(mock.get(params["name"], []), params.get("arguments", {}))
        text = {"type": "text", "text": json.dumps(values)}
        if "error" in values:
            return {"content": [{"type": "text", "text": values["error"]}], "isError": True}
        return {"content": [text], "structuredContent": values}
    return {}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        simulation = json.load(file)
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message and "id" in message:
            value = answer(simulation, message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value}), flush=True)


main()
