/** A tab that nobody touches asks the server for next to nothing beside its stream. */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import { testChromium } from '../support/chromium.ts';
import { type ConsoleSite, openTab, startConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { openAll } from '../support/every-page.ts';
import { operatorEntry } from '../support/operator.ts';
import { PATIENCE_MS, until } from '../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);

const MINUTES = 10;
const MINUTE_MS = 60_000;

let site: ConsoleSite;
let world: World;
beforeAll(async () => {
  site = await startConsoleSite();
  world = await makeWorld(site.app);
});
afterAll(() => site?.close());

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

/** Lets minutes go by for the page and for the server; returns what the page asked for. */
async function idle(tab: Awaited<ReturnType<typeof openTab>>, path: string): Promise<string[]> {
  const { context, page } = tab;
  // A page has the clock of its own first document.
  await page.goto(path);
  await page.locator('main h1').first().waitFor();
  await until('it is loaded', async () => (await page.locator('.loading').count()) === 0);
  await page.waitForLoadState('load');
  const asked: string[] = [];
  context.on('request', (request) => asked.push(new URL(request.url()).pathname));
  for (let minute = 0; minute < MINUTES; minute++) {
    site.app.clock.advance(MINUTE_MS);
    await page.clock.runFor(MINUTE_MS);
  }
  // What was asked for last has come by then.
  await page.evaluate('fetch("/console/none").then(() => 0)');
  context.removeAllListeners('request');
  // On a busy machine one more may come after it: it counts too.
  expect(asked).toContain('/console/none');
  return asked.filter((path) => path !== '/console/none');
}

testChromium(`no page asks more than once a minute, in ${MINUTES} minutes`, async () => {
  const { paths, tab } = await openAll(site, world, {});
  const secret = await operatorEntry(site.app);
  const operator = await openTab(site, ['session.entry', { secret }], '/console');
  await tab.page.clock.install();
  await operator.page.clock.install();
  await tab.page.addInitScript(COUNT_FORMATTERS);
  await operator.page.addInitScript(COUNT_FORMATTERS);
  const many: [string, string[]][] = [];
  const see = async (own: typeof tab, path: string) => {
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
