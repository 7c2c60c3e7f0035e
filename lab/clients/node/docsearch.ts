// Uses the DocSearch client in a built site of VitePress, in Chromium without a window.
//
//	node built/docsearch.js CHROMIUM SITE

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [executablePath, site] = process.argv.slice(2) as [string, string];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));

  await page.goto(site);
  await page.locator(".DocSearch-Button").click();
  await page.locator(".DocSearch-Input").fill("lunar");
  const hits = page.locator(".DocSearch-Hit a");
  await hits.first().waitFor();
  const shown = await hits.evaluateAll((all) => all.map((hit) => hit.getAttribute("href") ?? ""));
  console.log(`  lunar: ${shown.join(" | ")}`);
  assert.match(shown[0] ?? "", /constants\.html$/);
  assert.match(shown[1] ?? "", /constants\.html#the-lunar-constituent$/);
  assert.equal(await hits.nth(1).locator("mark").innerText(), "lunar");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.hash === "#the-lunar-constituent");
  await page.locator("#the-lunar-constituent").waitFor();
  assert.deepEqual(errors, []);
  console.log(`  Enter leads to ${page.url()}`);
} finally {
  await browser.close();
}
