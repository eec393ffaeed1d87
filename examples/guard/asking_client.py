"""An MCP client whose user answers every question of `grammata guard` in the same way.

    python3 asking_client.py ANSWER COMMAND...

ANSWER is `decline`, `cancel`, or the content of the form that the user accepts, in JSON. Standard input has a call on
each line: the tool, a blank, and the arguments in JSON. The script needs only the standard library.
"""

import json
import subprocess
import sys


def main():
    answer, command = sys.argv[1], sys.argv[2:]
    if answer in ("decline", "cancel"):
        reply = {"action": answer}
    else:
        reply = {"action": "accept", "content": json.loads(answer)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as guard:

        def send(message):
            guard.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            guard.stdin.flush()

        def request(number, method, params):
            """Sends a request, answers the questions that come first, and returns the result."""
            send({"id": number, "method": method, "params": params})
            for line in guard.stdout:
                message = json.loads(line)
                if message.get("method") == "elicitation/create":
                    print("question:", message["params"]["message"])
                    print("answer:", answer)
                    send({"id": message["id"], "result": reply})
                elif "method" not in message and message.get("id") == number:
                    return message["result"]
            sys.exit("the guard has ended")

        information = {"name": "example", "version": "1"}
        declared = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": information}
        request(0, "initialize", declared)
        send({"method": "notifications/initialized"})
        for number, line in enumerate(sys.stdin, 1):
            name, _, arguments = line.strip().partition(" ")
            result = request(number, "tools/call", {"name": name, "arguments": json.loads(arguments or "{}")})
            print(f"{name}:", result["content"][0]["text"].splitlines()[0])
        guard.stdin.close()


main()
