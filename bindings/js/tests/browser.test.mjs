// The entry of browsers, and of bundlers: nothing of Node is imported, and the library may come as bytes, as a compiled
// module or as a response.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";

const pkg = new URL("../pkg/", import.meta.url);
const library = readFileSync(new URL("core_bg.wasm", pkg));

/** A copy of the entry with an instance of its own. */
const entry = (copy) => import(`${new URL("index.js", pkg)}?${copy}`);

test("the entry is without Node", () => {
  for (const name of ["index.js", "core.js", "border.js", "logits.js"]) {
    assert.doesNotMatch(readFileSync(new URL(name, pkg), "utf8"), /node:|require\(|process\./, name);
  }
});

test("the library is loaded from a response, a module or bytes", async () => {
  const headers = { "content-type": "application/wasm" };
  const { default: init, Vocabulary, Compiler, initSync } = await entry("a");
  await init({ module_or_path: new Response(library, { headers }) });
  const compiler = new Compiler(Vocabulary.fromTokens(["a", "b"]));
  assert.deepEqual([...compiler.compileRegex("a").matcher().mask()], [1]);
  assert.ok(initSync({ module: new WebAssembly.Module(library) }));
});

test("clocks, threads and files of the system are not reached", () => {
  // the messages by which the standard library panics without them
  for (const message of ["time not implemented on this platform", "condvar wait not supported"]) {
    assert.equal(library.indexOf(message), -1, message);
  }
  const modules = new Set(WebAssembly.Module.imports(new WebAssembly.Module(library)).map(({ module }) => module));
  assert.deepEqual([...modules], ["./core_bg.js"]);
});

test("the library has the size that the documentation names", () => {
  const page = readFileSync(new URL("../../../docs/javascript.md", import.meta.url), "utf8");
  const [, named] = page.match(/([\d.]+) MB with gzip/);
  const size = gzipSync(library, { level: 9 }).length / 1e6;
  assert.ok(size <= Number(named) + 0.1, `${size} MB with gzip, named ${named}`);
});
