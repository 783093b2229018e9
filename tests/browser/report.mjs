// A report in headless Chromium, driven by playwright-core, judged by axe-core: light and dark, desktop and phone.
//
//   node report.mjs MODULES RUN PICTURES
//
// MODULES is the folder whose node_modules has both packages, RUN the folder of a run with report.html and result.json;
// a picture of the whole page per look goes into PICTURES. Prints one line per look and one per thing that is wrong;
// ends with 1 if anything is. $CHROMIUM names the browser; default: the chromium of the path.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, run, pictures] = process.argv.slice(2);
if (!pictures) {
  console.error("error: report.mjs: an argument is missing\n  fix: node report.mjs MODULES RUN PICTURES");
  process.exit(2);
}
const require = createRequire(path.join(path.resolve(modules), "from-here.js"));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");
const browserPath = process.env.CHROMIUM || execFileSync("sh", ["-c", "command -v chromium"]).toString().trim();

const LOOKS = ["light", "dark"].flatMap((scheme) =>
  [["phone", 390, 844], ["tablet", 768, 1024], ["desktop", 1440, 900], ["wide", 2560, 1440]].map(
    ([device, width, height]) => ({ scheme, device, width, height })));
LOOKS.push({ scheme: "light", device: "print", width: 720, height: 1000, media: "print" });

const SLOWEST = Number(process.env.TRNSIM_SLOWEST_PAGE ?? 20); // s to open; a loaded host is not the page's fault

/// Cards of the summary and where the same number stands in result.json.
const CARDS = {
  "training time": ["job", "train_runtime"],
  "step": ["job", "step_seconds"],
  "device step": ["job", "device_step_seconds"],
  "samples/s": ["job", "train_samples_per_second"],
  "cost of the run": ["cost", "dollars"],
  "MFU of the job": ["job", "job_mfu_percent"],
  "MFU of a core's program": ["utilisation", "mfu_estimated_percent"],
  "HFU of a core's program": ["utilisation", "hfu_estimated_percent"],
  "MBU of a core's program": ["utilisation", "mbu_estimated_percent"],
  "eval accuracy": ["metrics", "eval_accuracy"],
  "eval F1": ["metrics", "eval_f1_macro"],
  "test accuracy": ["metrics", "test_accuracy"],
  "test F1": ["metrics", "test_f1_macro"],
};

/// In the page: sorts every column of every table both ways; what is out of order, or does not say how it is sorted.
function sortEverything() {
  const wrong = [];
  let columns = 0;
  for (const table of document.querySelectorAll("table")) {
    const name = table.caption.textContent;
    const values = (c) => Array.from(table.tBodies[0].rows, (row) => {
      const v = row.cells[c].getAttribute("data-v");
      return v === null ? row.cells[c].textContent : v === "" ? null : Number(v);
    });
    table.querySelectorAll("th button").forEach((button, c) => {
      ++columns;
      const before = values(c).map(String).sort().join("\n");
      for (const [way, sign] of [["descending", -1], ["ascending", 1]]) {
        button.click();
        const list = values(c);
        const rising = (low, high) => low === null || (high !== null && low <= high);
        if (!list.every((v, i) => i === 0 || (sign > 0 ? rising(list[i - 1], v) : rising(v, list[i - 1]))))
          wrong.push(`${name}: ${button.textContent} is not ${way}`);
        if (button.parentElement.getAttribute("aria-sort") !== way) wrong.push(`${name}: does not say ${way}`);
      }
      if (values(c).map(String).sort().join("\n") !== before) wrong.push(`${name}: sorting lost a row`);
    });
  }
  return { columns, wrong };
}

/// In the page: sections without content, links that lead nowhere, a page wider than its window.
function structure() {
  const wrong = [], names = [];
  for (const section of document.querySelectorAll("section")) {
    names.push(section.id.replace(/^r\d+-/, ""));
    const words = section.textContent.trim().length - section.querySelector("h2").textContent.trim().length;
    if (!section.querySelector("tbody tr, svg rect, svg path, svg circle") && words < 5) wrong.push(`empty ${section.id}`);
  }
  for (const link of document.querySelectorAll("a[href^='#']"))
    if (!document.getElementById(link.getAttribute("href").slice(1))) wrong.push(`leads nowhere: ${link.textContent}`);
  if (document.documentElement.scrollWidth > window.innerWidth) wrong.push("wider than the window");
  return { names, wrong };
}

/// In the page: letters of charts that leave their picture, elements that leave the window where nothing scrolls.
function cut() {
  const wrong = [];
  for (const svg of document.querySelectorAll("svg")) {
    if (!svg.getClientRects().length) continue;
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const own = text.getBoundingClientRect();
      if (own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1 || own.top < box.top - 1)
        wrong.push(`cut: "${text.textContent}" of ${svg.getAttribute("aria-label")}`);
      if (parseFloat(getComputedStyle(text).fontSize) * box.width / svg.viewBox.baseVal.width < 9)
        wrong.push(`too small: "${text.textContent}" of ${svg.getAttribute("aria-label")}`);
    }
  }
  for (const e of document.querySelectorAll("main *")) {
    if (!e.getClientRects().length || e.closest(".wide, nav, svg")) continue;
    const own = e.getBoundingClientRect();
    if (own.right > document.documentElement.clientWidth + 1 && own.width > 1) wrong.push(`off-screen: ${e.outerHTML.slice(0, 100)}`);
  }
  return [...new Set(wrong)];
}

/// In the page: the time line zooms and says what is under the pointer.
function timeline() {
  const wrong = [];
  for (const figure of document.querySelectorAll(".timeline")) {
    const canvas = figure.querySelector("canvas"), before = canvas.toDataURL();
    figure.querySelector("[data-do=in]").click();
    if (canvas.toDataURL() === before) wrong.push("the time line does not zoom");
    figure.querySelector("[data-do=all]").click();
    if (canvas.toDataURL() !== before) wrong.push("the time line does not come back");
    const box = canvas.getBoundingClientRect(), said = figure.querySelector("output").textContent;
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + 5 }));
    if (figure.querySelector("output").textContent === said) wrong.push("the time line says nothing");
  }
  return wrong;
}

async function look(browser, { scheme, device, width, height, media = "screen" }) {
  const wrong = [];
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, offline: true });
  const page = await context.newPage();
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && wrong.push(`console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (error) => wrong.push(`script: ${error.message}`));
  page.on("request", (r) => r.url().startsWith("file:") || r.url().startsWith("data:") || wrong.push(`asks for ${r.url()}`));
  const before = Date.now();
  await page.emulateMedia({ media, colorScheme: scheme });
  await page.goto(pathToFileURL(path.resolve(run, "report.html")).href);
  const seconds = (Date.now() - before) / 1000;
  if (seconds > SLOWEST) wrong.push(`opens in ${seconds} s`);
  wrong.push(...(await page.evaluate(cut)));
  if (media === "screen") wrong.push(...(await page.evaluate(timeline)));
  await page.screenshot({ path: path.join(pictures, `${path.basename(path.resolve(run))}_${device}_${scheme}.png`), fullPage: true });

  const shape = await page.evaluate(structure);
  const result = JSON.parse(readFileSync(path.join(run, "result.json"), "utf8"));
  const cards = await page.$$eval(".card", (all) => all.map((card) =>
    [card.querySelector("dt").textContent, Number(card.querySelector("dd").getAttribute("data-v"))]));
  let equal = 0;
  for (const [name, shown] of cards) {
    const [section, key] = CARDS[name] ?? [];
    if (!section) continue;
    ++equal;
    if (shown !== result[section]?.[key]) wrong.push(`${name} is ${shown}, result.json says ${result[section]?.[key]}`);
  }

  if (media === "print") {
    await context.close();
    console.log(`${device} ${scheme}: ${shape.names.join(" ")}`);
    return [...wrong, ...shape.wrong].map((text) => `${device} ${scheme}: ${text}`);
  }
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  await page.addScriptTag({ path: axe });
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations", "incomplete"] }));
  for (const v of found.violations)
    wrong.push(`axe: ${v.id} (${v.impact}), ${v.nodes.length} times, first ${v.nodes[0].html.slice(0, 160)}`);
  const undecided = found.incomplete.map((v) => `${v.id} x${v.nodes.length}`);

  // By mouse once, as a person does; then every column by script.
  const first = page.locator("th button").nth(1);
  await first.click();
  if ((await first.evaluate((b) => b.parentElement.getAttribute("aria-sort"))) !== "descending") wrong.push("a click does not sort");
  const sorted = await page.evaluate(sortEverything);
  await context.close();
  console.log(`${device} ${scheme}: ${shape.names.join(" ")}; ${equal} cards equal result.json, ${sorted.columns} columns ` +
    `sort, axe passes ${found.passes.length} rules, undecided: ${undecided.join(" ") || "none"}`);
  return [...wrong, ...shape.wrong, ...sorted.wrong].map((text) => `${device} ${scheme}: ${text}`);
}

const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
const wrong = [];
for (const one of LOOKS) wrong.push(...(await look(browser, one)));
await browser.close();
for (const line of wrong) console.log(`WRONG ${line}`);
console.log(wrong.length === 0 ? "nothing is wrong" : `${wrong.length} things are wrong`);
process.exit(wrong.length === 0 ? 0 : 1);
