// Uses the box for other sites in a built site of a generator, in Chromium without a window.
//
//	node built/box.js CHROMIUM SITE OPENER
//
// OPENER is the selector of the element that opens the box.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [executablePath, site, opener] = process.argv.slice(2) as [string, string, string];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    const { url } = message.location();
    if (message.type() === "error" && !url.endsWith("/favicon.ico")) errors.push(`${url}: ${message.text()}`);
  });

  const dialog = page.locator("anatomy-search dialog");
  await page.goto(site);
  await page.locator("anatomy-search").waitFor({ state: "attached" });
  await page.locator(opener).click();
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await page.keyboard.press("Control+k");
  await dialog.waitFor();

  await page.keyboard.type("lunar");
  const options = dialog.locator("a[role=option]");
  await options.first().waitFor();
  const names = await options.locator(".name").allTextContents();
  console.log(`  lunar: ${names.join(" | ")}`);
  assert(names[0]?.startsWith("Harmonic constants") && names[1]?.endsWith("The lunar constituent"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.hash.split(":~:")[0] === "#the-lunar-constituent"); // before a text fragment
  const heading = page.locator("#the-lunar-constituent");
  await heading.waitFor();
  assert.match(await heading.innerText(), /The lunar constituent/);
  assert(page.url().startsWith(site));

  await page.keyboard.press("/");
  await dialog.waitFor();
  await page.keyboard.type("compiler");
  await options.first().waitFor();
  await dialog.getByRole("option", { name: "Installation" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Installation" }).waitFor();
  assert.deepEqual(errors, []);
  console.log(`  Enter leads to ${new URL(page.url()).origin}/…#the-lunar-constituent, a click to ${page.url()}`);
} finally {
  await browser.close();
}
