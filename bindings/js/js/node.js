// Node: the library is read from the file next to this one, so that there is nothing to wait for.

import { readFileSync } from "node:fs";
import { initSync } from "./core.js";

const library = initSync({ module: readFileSync(new URL("core_bg.wasm", import.meta.url)) });

export * from "./index.js";

/** What browsers call first. Here the library is loaded already. */
export default async function init() {
  return library;
}
