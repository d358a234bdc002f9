/** The page of the console, made from its sources, in a real browser. */

import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { buildConsole } from '../../packaging/console.ts';
import type { CallName, Given } from '../../src/call/table.ts';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { closePages, HAS_CHROMIUM, openPage, sharedShell } from './chromium.ts';
import { IS_LONG } from './scale.ts';
import { ROOT } from './tree.ts';
import { until } from './until.ts';

export interface ConsoleSite {
  app: TestApp;
  /** By a name: a browser keeps the cookies of a session there. */
  url: string;
  browser: Browser;
  close(): Promise<void>;
}

/** Starts an appliance that has the page. */
export async function startConsoleSite(options: TestAppOptions = {}): Promise<ConsoleSite> {
  consoleFiles ??= builtConsole();
  const app = await startTestApp({ consoleFiles: await consoleFiles, ...options });
  const browser = HAS_CHROMIUM ? await sharedShell() : (null as unknown as Browser);
  return {
    app,
    browser,
    url: app.url.replace('127.0.0.1', 'localhost'),
    close: async () => {
      await closePages();
      await app.close();
    },
  };
}

/** A console that all tests of a file share. */
export interface SharedSite extends ConsoleSite {
  /** Opened by {@link openTab} in the test: closed after it. */
  tabs: Tab[];
}

/**
 * Starts a console for the tests of this file, and ends it after them. No tab may have seen trouble
 * when its test is over, unless `expectsTrouble`; the returned site has no fields before.
 */
export function useConsoleSite(
  options: TestAppOptions = {},
  { expectsTrouble = false } = {},
): SharedSite {
  const site = { tabs: [] as Tab[] } as SharedSite;
  beforeAll(async () => {
    Object.assign(site, await startConsoleSite(options));
  });
  afterEach(async () => {
    for (const { context, troubles } of site.tabs.splice(0)) {
      if (!expectsTrouble) expect(troubles).toEqual([]);
      await context.close();
    }
  });
  afterAll(() => site.close?.());
  return site;
}

let consoleFiles: Promise<Map<string, Blob>> | null = null;

/** Makes the files of the page, once for the files that share a process. */
async function builtConsole(): Promise<Map<string, Blob>> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-console-'));
  await buildConsole(folder);
  const files = readdirSync(folder).map((name): [string, Blob] => [
    name.replace(/\.br$/, ''),
    new Blob([readFileSync(join(folder, name))]),
  ]);
  rmSync(folder, { recursive: true });
  return new Map(files);
}

/** A tab of a browser, and what went wrong in it. */
export interface Tab {
  context: BrowserContext;
  page: Page;
  troubles: string[];
}

/** Opens a browser of its own at a path; `by` is the call that signs it in. */
export async function openTab<N extends CallName>(
  { browser, url, tabs }: ConsoleSite & Partial<SharedSite>,
  by: [N, Given<N>] | null,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...options,
  });
  const opened = await openPage(context, url);
  const tab = { context, ...opened };
  tabs?.push(tab);
  if (by !== null) {
    await openBlank(opened.page, url);
    await callFrom(opened.page, ...by);
  }
  await opened.page.goto(`${url}${path}`);
  return tab;
}

/** Waits until the only open page has its stream, and the server has seen what is there. */
export async function untilFollowed({ clock, server }: TestApp): Promise<void> {
  await until('the page has its stream', () => server.liveCount() === 1);
  clock.advance(1_000);
  await until('the server has looked', () => clock.sleeperCount === 1);
}

/** Opens an empty page of the site, which asks the server nothing. */
export async function openBlank(page: Page, url: string): Promise<void> {
  const blank = { status: 200, contentType: 'text/html', body: '<!doctype html>' };
  await page.route(`${url}/blank`, (route) => route.fulfill(blank));
  await page.goto(`${url}/blank`);
}

/** Makes a call as a page of the site does. */
export async function callFrom<N extends CallName>(
  page: Page,
  name: N,
  given: Given<N>,
): Promise<unknown> {
  return page.evaluate(
    async ([call, body]) => {
      const answer = await fetch(`/console/call/${call}`, { method: 'POST', body: body as string });
      return answer.json();
    },
    [name, JSON.stringify(given)],
  );
}

/** The looks in which a state of a page is examined: each theme, and both directions. */
const LOOKS = [
  { colorScheme: 'light', locale: 'en-GB' },
  { colorScheme: 'dark', locale: 'fa-IR' },
] as const;
/** Those of a run: in the short form one. The two every-page tests have each page in both. */
export const LOOKS_TRIED = IS_LONG ? LOOKS : LOOKS.slice(1);

let axe: string | null = null;

/** What axe is asked for: all of it, or what alone depends on the theme, in half of the time. */
const RULES = {
  all: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
  contrast: { type: 'rule', values: ['color-contrast'] },
};

/** The faults that axe finds. It comes by the debugger, which the policy of the page allows. */
export async function faultsOf(page: Page, rules: keyof typeof RULES = 'all'): Promise<string[]> {
  axe ??= readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8');
  const devtools = await page.context().newCDPSession(page);
  const options = JSON.stringify({ runOnly: RULES[rules], resultTypes: ['violations'] });
  const run = `${axe}; axe.run(document, ${options}).then(({ violations }) => JSON.stringify(
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html))))`;
  const { result } = await devtools.send('Runtime.evaluate', {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  await devtools.detach();
  return JSON.parse(result.value);
}
