// A Parquet file read by Apache's own reader (parquet-wasm, of arrow-rs), its rows as JSON on stdout.
//
//   node parquet.mjs MODULES FILE
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, file] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "from-here.js"));
const { readParquet } = require("parquet-wasm");
const { tableFromIPC } = require("apache-arrow");
const table = tableFromIPC(readParquet(new Uint8Array(readFileSync(file))).intoIPCStream());
const rows = table.toArray().map((row) => row.toJSON());
console.log(JSON.stringify(rows, (_, v) => (typeof v === "bigint" ? Number(v) : v)));
