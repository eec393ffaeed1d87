#!/usr/bin/env bash
# The TypeScript client of MCP that negotiates versions starts a server's command twice for one connection: a first process
# only gets `server/discover` and is ended, a second one gets the session. We expected one process, as with the Python
# client, which asks and continues on the same connection. A server that takes a lock, a port or a new file at its start
# must leave it to the first request of the session. With the mode `legacy`, the default, there is one process.
#
# Versions: @modelcontextprotocol/client 2.4.0 and @modelcontextprotocol/server 2.4.0
#
# Output seen:
#   legacy: legacy, 1 process
#   auto: modern, 2 processes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --silent @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/server@2.4.0
cat >server.js <<'END'
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

appendFileSync("starts", "x");
serveStdio(() => {
  const server = new McpServer({ name: "server", version: "1" });
  server.registerTool("hello", {}, async () => ({ content: [] }));
  return server;
});
END
cat >client.js <<'END'
import { readFileSync, rmSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

for (const mode of ["legacy", "auto"]) {
  rmSync("starts", { force: true });
  const client = new Client({ name: "client", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: ["server.js"] }));
  const era = client.getProtocolEra();
  await client.listTools();
  await client.close();
  const starts = readFileSync("starts", "utf8").length;
  console.log(`${mode}: ${era}, ${starts} ${starts === 1 ? "process" : "processes"}`);
}
END
node client.js | tee seen
diff - seen <<'END'
legacy: legacy, 1 process
auto: modern, 2 processes
END
