// Searches a server with openapi-fetch, by the types that openapi-typescript generates as openapi.d.ts.
//
//	node built/api.js URL QUERY FOLDER
//
// The URLs of the results are written to FOLDER/typescript.txt, one a line.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi.js";

type Schemas = components["schemas"];

const [baseUrl, q, folder] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl });

// pages returns the answers to the query, to the end, by the cursor.
async function pages(filter: boolean): Promise<Schemas["Search"][]> {
  const answers: Schemas["Search"][] = [];
  let cursor: string | undefined;
  do {
    const { data, error } = await client.GET("/api/v1/search", { params: { query: { q, num: 20, cursor, filter } } });
    assert(data, `search failed: ${error?.error.message}`);
    answers.push(data);
    cursor = data.next_cursor;
  } while (cursor);
  return answers;
}

// exported returns the lines of an export and its last line.
async function exported(): Promise<[Schemas["Result"][], Schemas["ExportEnd"]]> {
  const { data, error } = await client.GET("/api/v1/export", { params: { query: { q } }, parseAs: "text" });
  assert(data, `export failed: ${error?.error.message}`);
  const lines = data.trimEnd().split("\n");
  const end: Schemas["ExportEnd"] = JSON.parse(lines.pop() ?? "");
  return [lines.map((line): Schemas["Result"] => JSON.parse(line)), end];
}

const listed = (answers: Schemas["Search"][]) => answers.flatMap((answer) => answer.results.map(({ url }) => url));

const answers = await pages(true);
const urls = listed(answers);
const total = answers[0]?.total;
assert(total?.relation === "eq");
assert.equal(urls.length, total.value);
assert.equal(new Set(urls).size, total.value);
assert(answers.length > 1, `"${q}" has one page of results, so that no cursor is followed`);
console.log(`  search: ${urls.length} results on ${answers.length} pages, total ${total.value}`);

const [lines, end] = await exported();
assert(end.done && end.results === lines.length && lines.length === total.value);
assert.deepEqual(lines.map(({ url }) => url), listed(await pages(false)));
console.log(`  export: ${lines.length} lines, in the order of the search with filter=false`);

const several = await client.POST("/api/v1/batch", { body: { searches: [{ q }, { q: "", num: 3 }] } });
const [first, second] = several.data?.answers ?? [];
assert(first && "total" in first && second && "error" in second);
assert.deepEqual(first.total, total);
console.log(`  batch: total ${first.total.value}, and the error ${second.error.code}`);

const refused = await client.GET("/api/v1/search", { params: { query: { q, num: 101 } } });
assert(refused.response.status === 400 && refused.error);
console.log(`  num=101: 400 ${refused.error.error.code}: ${refused.error.error.message}`);
writeFileSync(join(folder, "typescript.txt"), urls.map((url) => url + "\n").join(""));
