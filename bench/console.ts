/**
 * The console in Chromium: its first paint, and what scrolling and searching among many links cost
 * the page and another caller of the API.
 *
 *   bun bench/console.ts [--executable dist/gatepost] [--links 100000] [--rounds 5]
 *     [--locale zh-CN]
 *
 * | Figure | How |
 * |---|---|
 * | first paint | of a browser that was just started, without a cache: the sign-in, and the list |
 * | longest task | of the page's main thread, in a trace: of the processor, and by the wall |
 * | another caller | one that asks for a list of domains each 2 ms, before and meanwhile |
 *
 * Prints the figures and fails where one is over its bound. Writes nothing to the repository. The
 * server and the caller are on one core, the page on the other; what else runs there shows. Texts
 * are compared slowest in Chinese.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../test/support/chromium.ts';
import { until } from '../test/support/until.ts';
import { processorTimes } from './environment.ts';
import { median } from './load.ts';
import { onCore, startServer, stopAll } from './process.ts';
import { seed } from './seed.ts';
import { authKey, providerCode } from './shape.ts';

const { values: options } = parseArgs({
  options: {
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
    links: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    locale: { type: 'string', default: 'zh-CN' },
  },
});
const linkCount = Number(options.links);
const rounds = Number(options.rounds);
const PAINT_MAX_MS = 500;
const TASK_MAX_MS = 50;
const WAIT_MAX_MS = 10;
const NOW_MS = Date.now();

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const credentials = { code: providerCode(1), key: authKey(1) };

async function signIn(page: Page, site: string): Promise<void> {
  await page.goto(`${site}/console`);
  await page.evaluate(async (given) => {
    await fetch('/console/call/session.key', { method: 'POST', body: JSON.stringify(given) });
  }, credentials);
}

/** First contentful paints of a browser without a cache, ms: signed out, and in the list. */
async function paintOnce(site: string): Promise<{ door: number; list: number }> {
  const browser = await startBrowser();
  try {
    const context = await browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    const paint = async (path: string) => {
      await page.goto(`${site}${path}`);
      const read = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`;
      return until('the page paints', async () => Number(await page.evaluate(read)) || null);
    };
    const door = await paint('/console');
    await signIn(page, site);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.clearBrowserCache');
    return { door, list: await paint('/console/links') };
  } finally {
    await browser.close();
  }
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds, by the wall and of the processor. */
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

interface Task {
  wallMs: number;
  /** The time of the processor: what else runs on the machine adds nothing. */
  ownMs: number;
}

const TRACED = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];

/** Runs `work`, and returns the longest task of the page's main thread meanwhile. */
async function longestTask(browser: Browser, page: Page, work: () => Promise<void>): Promise<Task> {
  await browser.startTracing(page, { categories: TRACED });
  await work();
  const trace = JSON.parse(String(await browser.stopTracing()));
  const events: readonly TraceEvent[] = trace.traceEvents;
  const keyOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const isMain = ({ args, name }: TraceEvent) =>
    name === 'thread_name' && args?.name === 'CrRendererMain';
  const mains = new Set(events.filter(isMain).map(keyOf));
  const tasks = events.filter(
    (event) => event.name === 'RunTask' && event.ph === 'X' && mains.has(keyOf(event)),
  );
  const longest = (of: (event: TraceEvent) => number | undefined) =>
    Math.round(tasks.reduce((most, event) => Math.max(most, of(event) ?? 0), 0) / 1_000);
  return { wallMs: longest(({ dur }) => dur), ownMs: longest(({ tdur }) => tdur) };
}

interface Waits {
  count: number;
  medianMs: number;
  p99Ms: number;
  maxMs: number;
}

function startCaller(url: string) {
  const command = [process.execPath, join(import.meta.dir, 'console-caller.ts'), url];
  const child = Bun.spawn(onCore(0, command), {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = child.stdout.getReader();
  return {
    read: async (): Promise<Waits> => {
      child.stdin.write('\n');
      child.stdin.flush();
      const { value } = await reader.read();
      return JSON.parse(new TextDecoder().decode(value));
    },
    end: async () => {
      child.stdin.end();
      await child.exited;
    },
  };
}

const isStill = (page: Page) =>
  until('the list is read', async () => (await page.locator('.pulse').count()) === 0);

type Step = (page: Page, site: string) => Promise<void>;

/** Does the steps of a person with the list. */
const STEPS: readonly (readonly [name: string, run: Step])[] = [
  [
    'opens the list',
    async (page, site) => {
      await page.goto(`${site}/console/links`);
      await page.locator('.rows tbody th').first().waitFor();
    },
  ],
  [
    'scrolls by the wheel',
    async (page) => {
      await page.mouse.move(640, 500);
      for (let n = 0; n < 60; n++) await page.mouse.wheel(0, 900);
    },
  ],
  [
    'jumps to the end',
    async (page) => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      await page.getByText(`customer 1`, { exact: true }).waitFor();
    },
  ],
  [
    'jumps about',
    async (page) => {
      for (const part of [0.5, 0.1, 0.9, 0]) {
        await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${part})`);
        await page.waitForFunction('document.querySelectorAll(".rows tbody th").length > 5');
      }
    },
  ],
  [
    'searches letter by letter',
    async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('customer 9', { delay: 60 });
      await page.waitForURL(/customer\+9|customer%209/);
      await isStill(page);
    },
  ],
  [
    'reads all that is found',
    async (page) => {
      await page.evaluate('scrollTo(0, 1e9)');
      await isStill(page);
    },
  ],
  [
    'sorts by the note',
    async (page) => {
      await page.evaluate('scrollTo(0, 0)');
      await page.locator('th.c-note button').click();
      await page.locator('th.c-note[aria-sort]').waitFor();
      await isStill(page);
    },
  ],
];

async function measureList(site: string) {
  const { code, key } = credentials;
  const caller = startCaller(`${site}/api/list-domain?provider_code=${code}&auth_key=${key}`);
  const browser = await startBrowser();
  try {
    const { locale } = options;
    const context = await browser.newContext({ locale, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await signIn(page, site);
    await Bun.sleep(500);
    await caller.read();
    await Bun.sleep(2_000);
    const alone = await caller.read();
    const steps = [];
    for (const [name, run] of STEPS) {
      const startMs = performance.now();
      const task = await longestTask(browser, page, () => run(page, site));
      const tookMs = Math.round(performance.now() - startMs);
      steps.push({ name, tookMs, task, waits: await caller.read() });
    }
    return { alone, steps };
  } finally {
    await browser.close();
    await caller.end();
  }
}

/** From here on this process and its browser are beside the server, not on its core. */
function leaveServerCore(): void {
  if (navigator.hardwareConcurrency > 1) {
    Bun.spawnSync(['taskset', '-a', '-p', '-c', '1', String(process.pid)]);
  }
}

const dataDir = join(folder, 'data');
mkdirSync(dataDir);
const shape = { name: 'console', providerCount: 1, linkCount, deviceCount: linkCount / 2, run: 1 };
seed(options.executable, dataDir, shape, NOW_MS);
const before = processorTimes();
const serve = [options.executable, 'serve', '--port', '0', '--data', dataDir];
const server = await startServer(onCore(0, serve));
const site = server.url.replace('127.0.0.1', 'localhost');
console.log(
  `load average ${before.loadAverage.toFixed(2)}, ${navigator.hardwareConcurrency} cores`,
);

const paints: { door: number; list: number }[] = [];
for (let n = 0; n < rounds; n++) paints.push(await paintOnce(site));
const [door, list] = (['door', 'list'] as const).map((name) => paints.map((one) => one[name]));
const shownPaint = (all: readonly number[] = []) =>
  `median ${Math.round(median(all))} ms, longest ${Math.round(Math.max(...all))} ms`;
console.log(`first paint, sign-in: ${shownPaint(door)}`);
console.log(`first paint, list of ${linkCount} links: ${shownPaint(list)}`);

leaveServerCore();
const { alone, steps } = await measureList(site);
console.log('another caller, alone:', JSON.stringify(alone));
for (const { name, task, tookMs, waits } of steps) {
  const { ownMs, wallMs } = task;
  const shown = `longest task ${ownMs} ms of the processor, ${wallMs} ms by the wall`;
  console.log(`${name}: ${tookMs} ms; ${shown};`, JSON.stringify(waits));
}
await server.stop();

const longest = Math.max(...steps.map(({ task }) => task.ownMs));
const waits = Math.max(...steps.map((step) => step.waits.p99Ms));
const problems = [
  ...(median(paints.flatMap((one) => [one.door, one.list])) > PAINT_MAX_MS ? ['first paint'] : []),
  ...(longest > TASK_MAX_MS ? [`a task of ${longest} ms`] : []),
  ...(waits > WAIT_MAX_MS ? [`another caller waits ${waits} ms`] : []),
];
console.log(problems.length === 0 ? 'within all bounds' : `over a bound: ${problems.join('; ')}`);
process.exit(problems.length === 0 ? 0 : 1);
