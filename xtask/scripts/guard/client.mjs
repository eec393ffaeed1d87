// Tests the guard with the official TypeScript clients and real servers: node client.mjs GRAMMATA FOLDER SCRATCH PYTHON
// FOLDER has the packages in node_modules: the client of versions up to 2025-11-25 (sdk), and that of all versions
// (client). PYTHON runs the server of version 2026-07-28. It and the procedures are in the folder of this file.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const [grammata, folder, scratch, python] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const { resolve } = createRequire(join(folder, "package.json"));
const load = (path) => import(pathToFileURL(resolve(path)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ToolListChangedNotificationSchema } = await load("@modelcontextprotocol/sdk/types.js");

const server = (name) => join(folder, "node_modules/@modelcontextprotocol", name, "dist/index.js");
const names = (tools) => tools.map((tool) => tool.name);
const text = (result) => result.content.map((item) => item.text ?? "").join("\n");

async function connect(procedure, log, options, server) {
  rmSync(log, { force: true });
  const client = new Client({ name: "test", version: "1" });
  client.changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (client.changes += 1));
  const args = ["guard", join(here, procedure), "--log", log, ...options, "--", process.execPath, ...server];
  await client.connect(new StdioClientTransport({ command: grammata, args, stderr: "inherit" }));
  client.tools = async () => (await client.listTools()).tools;
  client.call = (name, given = {}) => client.callTool({ name, arguments: given });
  return client;
}

function verified(procedure, log) {
  return execFileSync(grammata, ["procedure", "verify", join(here, procedure), log], { encoding: "utf8" });
}

mkdirSync(scratch, { recursive: true });

// server-everything: structured results, answers and decisions; resources and prompts pass through unchanged
{
  const log = join(scratch, "weather.jsonl");
  const map = ["--map", "look_up=get-structured-content", "--map", "send=echo", "--ask", "agent"];
  const client = await connect("weather.yaml", log, map, [server("server-everything")]);
  assert.equal(client.getServerCapabilities().tools.listChanged, true);
  assert.match(client.getInstructions(), /held to the procedure `weather_message`/);
  const before = await client.tools();
  assert.deepEqual(names(before), ["get-structured-content"]);
  assert.deepEqual(before[0].inputSchema.properties.location.enum, ["New York", "Chicago"]);
  const early = await client.call("echo", { message: "x" });
  assert.ok(early.isError && text(early).includes("echo: precondition get-structured-content"), text(early));
  const hidden = await client.call("get-env");
  assert.ok(hidden.isError && text(hidden).includes("unknown"), text(hidden));
  const wrong = await client.call("get-structured-content", { location: "Los Angeles" });
  assert.ok(wrong.isError && text(wrong).includes("argument location"), text(wrong));
  const weather = await client.call("get-structured-content", { location: "Chicago" });
  assert.equal(typeof weather.structuredContent.temperature, "number");
  assert.ok((await client.listResources()).resources.length > 0);
  assert.ok((await client.listPrompts()).prompts.length > 0);
  await client.ping();
  assert.ok(client.changes >= 1);
  const said = await client.call("guard_say", { answer: "propose" });
  assert.ok(text(said).includes(`at ${weather.structuredContent.temperature} degrees`), text(said));
  assert.ok((await client.call("echo", { message: "x" })).isError);
  await client.call("guard_decide", { agreed: true });
  assert.ok(names(await client.tools()).includes("echo"));
  const sent = await client.call("echo", { message: "Rain." });
  assert.equal(sent.isError ?? false, false);
  assert.match(text(sent), /Rain\./);
  assert.match(text(await client.call("guard_say", { answer: "done" })), /The procedure is complete/);
  await client.close();
  assert.equal(verified("weather.yaml", log), "valid: 4 steps, complete\n");
}

// server-filesystem: a file may be written only once, and only after the same path was read
{
  const log = join(scratch, "edit.jsonl");
  const files = join(scratch, "files");
  mkdirSync(files, { recursive: true });
  const [path, other] = ["a.txt", "b.txt"].map((name) => join(files, name));
  [path, other].forEach((path) => writeFileSync(path, "old"));
  const client = await connect("edit.yaml", log, [], [server("server-filesystem"), files]);
  assert.deepEqual(names(await client.tools()), ["read_text_file"]);
  assert.ok((await client.call("write_file", { path, content: "new" })).isError);
  assert.ok((await client.call("read_text_file", { path: join(files, "none") })).isError);
  assert.ok((await client.call("write_file", { path, content: "new" })).isError);
  assert.equal(text(await client.call("read_text_file", { path })), "old");
  const tool = (await client.tools()).find((tool) => tool.name === "write_file");
  assert.equal(tool.inputSchema.properties.path.const, path);
  const stale = await client.call("write_file", { path: other, content: "new" });
  assert.ok(stale.isError && text(stale).includes("stale"), text(stale));
  const written = await client.call("write_file", { path, content: "new" });
  assert.equal(written.isError ?? false, false);
  assert.equal(readFileSync(path, "utf8"), "new");
  assert.equal(readFileSync(other, "utf8"), "old");
  const again = await client.call("write_file", { path, content: "newer" });
  assert.ok(again.isError && text(again).includes("limit 1"), text(again));
  await client.call("guard_say", { answer: "written" });
  await client.close();
  assert.equal(verified("edit.yaml", log), "valid: 4 steps, complete\n");
}
// the guard serves HTTP: changes of the tool list come over the stream, and the client can end its session
{
  const map = ["--map", "look_up=get-structured-content", "--map", "send=echo"];
  const args = ["guard", join(here, "weather.yaml"), ...map, "--listen", "127.0.0.1:0", "--"];
  const guard = spawn(grammata, [...args, process.execPath, server("server-everything")], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    const [said] = await once(createInterface({ input: guard.stderr }), "line");
    const transport = new StreamableHTTPClientTransport(new URL(said.split(" ").at(-1)));
    const client = new Client({ name: "test", version: "1" });
    const changed = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, resolve));
    await client.connect(transport);
    const listed = await client.listTools();
    assert.deepEqual(names(listed.tools), ["get-structured-content"]);
    const early = await client.callTool({ name: "echo", arguments: { message: "x" } });
    assert.ok(early.isError && text(early).includes("precondition get-structured-content"), text(early));
    const weather = await client.callTool({ name: "get-structured-content", arguments: { location: "Chicago" } });
    assert.equal(typeof weather.structuredContent.temperature, "number");
    await changed;
    await transport.terminateSession();
    await assert.rejects(client.listTools());
    await client.close();
  } finally {
    guard.kill();
  }
}
// the client of all versions: the guard and the server ask the user. The client starts the guard twice, first only to
// ask for the version.
{
  const modules = join(folder, "node_modules/@modelcontextprotocol/client/dist");
  const newer = await import(pathToFileURL(join(modules, "index.mjs")).href);
  const { StdioClientTransport } = await import(pathToFileURL(join(modules, "stdio.mjs")).href);
  const log = join(scratch, "version.jsonl");
  const negotiated = async (mode, args) => {
    const client = new newer.Client(
      { name: "test", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
    );
    client.questions = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      client.questions.push(params.message);
      const names = Object.keys(params.requestedSchema.properties);
      return { action: "accept", content: Object.fromEntries(names.map((name) => [name, true])) };
    });
    await client.connect(new StdioClientTransport({ command: grammata, args, stderr: "inherit" }));
    client.call = (name, given) => client.callTool({ name, arguments: given });
    return client;
  };
  const guarded = ["guard", join(here, "weather.yaml"), "--log", log];
  for (const [mode, version] of [["auto", "2026-07-28"], [{ pin: "2026-07-28" }, "2026-07-28"], ["legacy", "2025-11-25"]]) {
    rmSync(log, { force: true });
    const client = await negotiated(mode, [...guarded, "--", python, join(here, "server.py")]);
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    assert.match(client.getInstructions(), /held to the procedure `weather_message`/);
    assert.deepEqual(names((await client.listTools()).tools), ["look_up"]);
    const early = await client.call("send", { message: "x" });
    assert.ok(early.isError && text(early).includes("precondition look_up"), text(early));
    const weather = await client.call("look_up", { location: "Chicago" });
    assert.equal(weather.structuredContent.conditions, "Rain");
    assert.match(text(await client.call("guard_say", { answer: "propose" })), /The user decided agreed: true/);
    assert.match(text(await client.call("send", { message: "Rain." })), /Sent: Rain\./);
    assert.deepEqual(client.questions, ["It is Rain at 7.0 degrees. Shall I send it?", "Send Rain.?"]);
    await client.close();
    assert.equal(verified("weather.yaml", log), "valid: 3 steps\n");
  }
  // a server of earlier versions: the client falls back
  rmSync(log, { force: true });
  const map = ["--map", "look_up=get-structured-content", "--map", "send=echo"];
  const old = await negotiated("auto", [...guarded, ...map, "--", process.execPath, server("server-everything")]);
  assert.equal(old.getNegotiatedProtocolVersion(), "2025-11-25");
  assert.ok((await old.call("echo", { message: "x" })).isError);
  await old.close();
}
console.log("TypeScript clients: three servers, as expected");
