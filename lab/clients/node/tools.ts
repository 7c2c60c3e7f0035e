// Calls the tools of a server with the TypeScript SDK of the Model Context Protocol.
//
//	node built/tools.js URL QUERY
//	node built/tools.js PROGRAM DATA QUERY
//
// The second form starts the program with the command mcp for a data folder. It has the same tools.
// Connectors of chat clients need the tools search and fetch: search returns results with id, title
// and url, fetch a page with id, title, text, url and metadata, both as structured content and as one
// text with the same in JSON. The SDK compares the content with the schema of the tool.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

const server = process.argv.slice(2, -1) as [string, string?];
const query = process.argv.at(-1);
const client = new Client({ name: "clients", version: "1" });
const call = async (name: string, args: Record<string, unknown>) =>
  CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));

// answer returns the answer of a tool, which is the same as structured content and as text.
async function answer<T>(name: string, args: Record<string, unknown>): Promise<T> {
  const { content, structuredContent, isError } = await call(name, args);
  const [text] = content;
  assert(!isError && content.length === 1 && text?.type === "text");
  assert.deepEqual(JSON.parse(text.text), structuredContent);
  return structuredContent as T;
}

await client.connect(
  server[1]
    ? new StdioClientTransport({ command: server[0], args: ["mcp", "--data", server[1]], stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(server[0])),
);
const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name).sort();
assert(names.includes("search") && names.includes("fetch"));
console.log(`  ${client.getServerVersion()?.name}: ${names.join(", ")}`);

type Found = { results: { id: string; title: string; url: string }[] };
const { results } = await answer<Found>("search", { query });
assert(results.length > 0 && results.every((result) => result.id && result.title && result.url));
console.log(`  search: ${results.length} results with id, title, url`);

type Page = { id: string; title: string; text: string; url: string; metadata: Record<string, string> };
const first = results[0]!;
const page = await answer<Page>("fetch", { id: first.id });
assert(page.id === first.id && page.title && page.text && first.url.startsWith(page.url));
console.log(`  fetch: ${page.url}, ${page.text.length} characters, metadata ${Object.keys(page.metadata).join(", ")}`);

const refused = await call("search", { query, num: 21 });
assert(refused.isError && refused.content[0]?.type === "text");
console.log(`  num=21: ${refused.content[0].text}`);
await client.close();
