/** A tab that nobody touches asks the server for next to nothing beside its stream. */

import { beforeAll, expect } from 'bun:test';
import type { Request } from 'playwright-core';
import { testChromium } from '../support/chromium.ts';
import { openTab, type Tab, useConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { asProvider } from '../support/every-page.ts';
import { operatorEntry } from '../support/operator.ts';
import { scaleOf } from '../support/scale.ts';
import { until } from '../support/until.ts';

const MINUTES = scaleOf('IDLE_MINUTES', { short: 4, long: 10 });
const MINUTE_MS = 60_000;

const site = useConsoleSite({}, { expectsTrouble: true });
let world: World;
beforeAll(async () => {
  world = await makeWorld(site.app);
});

/** Formatters take a hundred times what they format: a page may not make one for each row. */
const FORMATTERS_MAX = 16;
const COUNT_FORMATTERS = `globalThis.formatters = 0;
  for (const name of ['Collator', 'DateTimeFormat', 'ListFormat', 'NumberFormat', 'PluralRules']) {
    Intl[name] = new Proxy(Intl[name], {
      construct(target, given, by) {
        formatters += 1;
        return Reflect.construct(target, given, by);
      },
    });
  }`;

/** What the pages of a tab ask for, beside the stream of news. */
function listen({ context, page }: Tab) {
  const asked: string[] = [];
  const open = new Set<Request>();
  const opened = (request: Request) => {
    const { pathname } = new URL(request.url());
    if (pathname === '/console/stream') return;
    if (pathname !== '/console/none') asked.push(pathname);
    open.add(request);
  };
  const closed = (request: Request) => open.delete(request);
  context.on('request', opened).on('requestfinished', closed).on('requestfailed', closed);
  return {
    /** Waits until all is answered and the page asks no more; returns what it asked for. */
    async rest(): Promise<string[]> {
      for (let before = -1; before !== asked.length; ) {
        before = asked.length;
        // What was asked for before it has come by then.
        await page.evaluate('fetch("/console/none").then(() => 0)');
        await until('all is answered', () => open.size === 0);
      }
      return asked.splice(0);
    },
    end() {
      context.off('request', opened).off('requestfinished', closed).off('requestfailed', closed);
    },
  };
}

/** Lets minutes go by for the page and for the server; returns what the page asked for. */
async function idle(tab: Tab, path: string): Promise<string[]> {
  const { page } = tab;
  const requests = listen(tab);
  // A page has the clock of its own first document.
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await until('it is loaded', async () => (await page.locator('.loading').count()) === 0);
  await page.waitForLoadState('load');
  // The parts of a message ask without a sign of it, once the message is there.
  await page.clock.runFor(1_000);
  await requests.rest();
  for (let minute = 0; minute < MINUTES; minute++) {
    site.app.clock.advance(MINUTE_MS);
    await page.clock.runFor(MINUTE_MS);
  }
  const asked = await requests.rest();
  requests.end();
  return asked;
}

testChromium(`no page asks more than once a minute, in ${MINUTES} minutes`, async () => {
  const { paths, tab } = await asProvider(site, world, {});
  const secret = await operatorEntry(site.app);
  const operator = await openTab(site, ['session.entry', { secret }], '/console');
  await tab.page.clock.install();
  await operator.page.clock.install();
  await tab.page.addInitScript(COUNT_FORMATTERS);
  await operator.page.addInitScript(COUNT_FORMATTERS);
  const many: [string, string[]][] = [];
  const see = async (own: Tab, path: string) => {
    const asked = await idle(own, path);
    if (asked.length > MINUTES) many.push([path, asked]);
    const made = Number(await own.page.evaluate('formatters'));
    if (made > FORMATTERS_MAX) many.push([path, [`makes ${made} formatters`]]);
  };
  for (const path of paths) await see(tab, path);
  for (const name of ['providers', 'health', 'nodes', 'settings', 'audit']) {
    await see(operator, `${site.url}/console/${name}`);
  }
  expect(many).toEqual([]);
});
