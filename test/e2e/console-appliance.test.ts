/**
 * Each flow of an operator in the console of the executable, in one language; with
 * TEST_LONG=1 in both: providers, an upstream, devices, messages, backups, health, the audit log.
 */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { texts as en } from '../../src/console/texts/operator-en.ts';
import { texts as fa } from '../../src/console/texts/operator-fa.ts';
import type { BaseTexts, OperatorTexts } from '../../src/console/texts/texts.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { closePages, HAS_CHROMIUM, sharedShell, testChromium } from '../support/chromium.ts';
import { ask, entryPath, siteOf, TRIED, type Visit, visit } from '../support/console-served.ts';
import { STORE } from '../support/place.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const HOST = 'panel.example.com';
const PASSPHRASE = 'correct horse battery';

let server: ServerProcess;
let browser: Browser;
let site: string;
let panel: Bun.Server<undefined>;
beforeAll(async () => {
  panel = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => new Response('servers', { status: url.endsWith('/sub/known') ? 200 : 404 }),
  });
  if (HAS_CHROMIUM) browser = await sharedShell();
});
afterAll(async () => {
  await panel?.stop(true);
  await closePages();
});

interface Scene extends Visit {
  words: BaseTexts & OperatorTexts;
  own: Credentials;
  /** The panel beside a list. */
  beside: Locator;
}

const isAnswered = async (own: Credentials) => (await ask(site, '/api/list-install', own))['rc'];

/** Fetches a subscription as an app does; returns the status. */
async function fetchBy(hwid: string): Promise<number> {
  const headers = { host: HOST, 'x-hwid': hwid, 'x-device-model': 'Pixel 9' };
  return (await fetch(`${site}/sub/known`, { headers })).status;
}

/** A provider as the command shows it. */
async function shownOf({ code }: Credentials): Promise<Record<string, unknown>> {
  const { stdout } = await run(['provider', 'list', '--json', '--data', server.dataDir]);
  const all = stdout
    .trim()
    .split('\n')
    .flatMap((line) => JSON.parse(line));
  return all.find((one) => one.provider_code === code) ?? all;
}

/** A step of a person: the flows of a scene run in this order. */
type Flow = (scene: Scene) => Promise<void>;
const FLOWS: Readonly<Record<string, Flow>> = {
  'a provider is added, and its key works': async ({ hand, own, page, words }) => {
    await hand.follow(words.providers.title);
    await hand.press(words.providers.add);
    const dialog = page.locator('dialog[open]');
    await hand.type(words.common.name, 'Northwind', dialog);
    await hand.press(words.providers.add, dialog);
    const shown = page.locator('.secret .code');
    await shown.first().waitFor();
    own.authKey = (await shown.last().textContent()) ?? '';
    await hand.press(words.common.close, dialog);
    await page.getByRole('button', { name: 'Northwind' }).click();
    own.code = new URL(page.url()).searchParams.get('provider') ?? '';
    expect(await isAnswered(own)).toBe(1);
  },
  'it is suspended, and goes on': async ({ beside, hand, own, words }) => {
    await hand.press(words.providers.suspend, beside);
    await until('refused', async () => (await isAnswered(own)) === 0);
    await hand.press(words.providers.resume, beside);
    await until('answered', async () => (await isAnswered(own)) === 1);
  },
  'it gets a new key, and both work for a while': async (scene) => {
    const { beside, hand, own, page, words } = scene;
    await hand.press(words.providers.rotate, beside);
    const dialog = beside.locator('dialog[open]');
    await hand.press(words.providers.rotate, dialog);
    const authKey = (await page.locator('.secret .code').textContent()) ?? '';
    expect(authKey).not.toBe(own.authKey);
    for (const key of [authKey, own.authKey]) {
      expect(await isAnswered({ code: own.code, authKey: key })).toBe(1);
    }
    await hand.press(words.common.close, dialog);
    own.authKey = authKey;
  },
  'its plan, end, rules, messages and buttons change': async ({ beside, hand, own, words }) => {
    const { common, heads, providers } = words;
    /** Opens a form of the panel, fills it in and saves it. */
    const change = async (summary: string, fill: (form: Locator) => Promise<unknown>) => {
      const form = beside.locator('details').filter({ hasText: summary });
      if ((await form.getAttribute('open')) === null) await hand.click(form.locator('summary'));
      await fill(form);
      await hand.press(common.save, form);
      await form.getByText(common.saved).waitFor();
    };
    await change(common.change, async (form) => {
      await form.getByLabel(heads.plan, { exact: true }).selectOption('pro');
      await form.getByLabel(heads.active_until, { exact: true }).fill('2031-05-01');
      await hand.type(heads.max_links, '7', form);
    });
    await change(providers.policy, (form) => hand.type(heads.inactive_days, '30', form));
    await change(providers.rides, async (form) => {
      await form.getByLabel(heads.ride, { exact: true }).selectOption('off');
      await hand.type(heads.support_url, 'tg://resolve?domain=help', form);
    });
    expect(await shownOf(own)).toMatchObject({
      plan: 'pro',
      max_links: 7,
      inactive_days: 30,
      ride: 'off',
      support_url: 'tg://resolve?domain=help',
    });
    await change(common.change, (form) =>
      form.getByLabel(heads.plan, { exact: true }).selectOption('enterprise'),
    );
  },
  'an operator changes something there, and the log names them': async ({ hand, page, words }) => {
    await hand.press(words.providers.act, page.locator('aside'));
    await hand.follow(words.shell.links);
    await hand.press(words.links.add);
    const dialog = page.locator('dialog[open]');
    await hand.type(words.heads.note, 'by the operator', dialog);
    await hand.press(words.links.create, dialog);
    await page.locator('.message-panel').waitFor();
    await page.keyboard.press('Escape');
    await hand.follow(words.activity.title);
    const entry = page.locator('main li', { hasText: 'operator' });
    await entry
      .filter({ hasText: words.activity.sentences['install.add']({ id: 1, install_limit: 3 }) })
      .first()
      .waitFor();
    await hand.press(words.providers.back);
    await hand.click(page.getByRole('button', { name: 'Northwind' }));
  },
  'an operator opens its pages, and its log says so': async ({ hand, page, words }) => {
    await hand.press(words.providers.act, page.locator('aside'));
    await page.locator('.acting').getByText('Northwind').waitFor();
    await hand.follow(words.activity.title);
    await page.getByText(words.activity.sentences['provider.visit']({})).waitFor();
    await page.getByText('operator').first().waitFor();
    await hand.press(words.providers.back);
  },
  'an upstream is checked, added, and limits devices at once': async (scene) => {
    const { hand, own, page, words } = scene;
    await hand.follow(words.upstreams.title);
    await hand.type(words.upstreams.host, HOST);
    await hand.type(words.upstreams.url, `http://127.0.0.1:${panel.port}`);
    await hand.type(words.upstreams.provider, own.code);
    await hand.type(words.upstreams.limit, '1');
    await hand.press(words.upstreams.check);
    await page
      .getByText(words.upstreams.panel.answers('404 to HEAD /, 404 to GET /sub/{key}'))
      .waitFor();
    await hand.press(words.upstreams.put);
    await page.getByText(words.upstreams.saved).waitFor();
    expect([await fetchBy(`${own.code}-1`), await fetchBy(`${own.code}-2`)]).toEqual([200, 404]);
    await hand.press(words.upstreams.remove);
    await hand.press(words.upstreams.remove, page.getByRole('dialog'));
    await page.getByRole('heading', { name: words.upstreams.none }).waitFor();
    expect(await fetchBy(`${own.code}-1`)).toBe(404);
  },
  'a scheduled message is found, and blocked': async ({ beside, hand, own, page, words }) => {
    const atMs = Date.now() + 5 * 3_600_000;
    const at = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ');
    const order = [
      'notify',
      '--provider',
      own.code,
      '--hwid',
      `${own.code}-1`,
      '--at',
      at,
      '--title',
      'Soon',
    ];
    const sent = await run([...order, '--body', 'b', '--data', server.dataDir]);
    expect(sent).toMatchObject({ code: 0 });
    await hand.follow(words.messages.title);
    await hand.click(page.locator('tbody tr').filter({ hasText: own.code }).getByRole('button'));
    await beside.getByText(words.records.why).waitFor();
    await hand.press(words.records.block, beside);
    await hand.press(words.records.block, beside.locator('dialog[open]'));
    await beside.getByText(words.records.waiting.ended).waitFor();
    await page.keyboard.press('Escape');
  },
  'a device is found, handed over, and forgotten': async ({ beside, hand, own, page, words }) => {
    await hand.follow(words.records.devices);
    await page.getByLabel(words.records.searchDevice).fill(`${own.code}-1`);
    const row = page.locator('tbody tr').filter({ hasText: `${own.code}-1` });
    await hand.click(row.getByRole('button'));
    const saved = page.waitForEvent('download');
    await hand.press(words.records.handOver, beside);
    expect(await Bun.file(await (await saved).path()).text()).toContain(`${own.code}-1`);
    await hand.press(words.records.forget, beside);
    await hand.press(words.records.forget, beside.locator('dialog'));
    await beside.waitFor({ state: 'detached' });
  },
  'a backup is made and verified, where the database is a file': async ({ hand, page, words }) => {
    await hand.follow(words.backups.title);
    if (STORE !== 'sqlite') {
      await page.getByText(words.backups.elsewhere).waitFor();
      return;
    }
    await hand.press(words.backups.make);
    await page.locator('tbody tr').first().waitFor();
    await hand.press(words.backups.verify, page.locator('tbody tr').first());
    await page.getByText(words.backups.good, { exact: true }).waitFor();
  },
  'a copy is downloaded, and its passphrase opens it': async ({ hand, page, words }) => {
    if (STORE !== 'sqlite') return;
    await hand.type(words.backups.passphrase, PASSPHRASE);
    await hand.press(words.backups.prepare);
    const link = page.locator('a[href="/console/backup"]');
    const saved = page.waitForEvent('download');
    await hand.click(link);
    const folder = temporaryFolder();
    const [copy, secret] = [join(folder, 'copy'), join(folder, 'secret')];
    await (await saved).saveAs(copy);
    writeFileSync(secret, PASSPHRASE, { mode: 0o600 });
    const order = ['restore', copy, '--passphrase-file', secret, '--data', join(folder, 'data')];
    expect(await run(order)).toMatchObject({ code: 0 });
  },
  'the figures of all providers by day': async ({ hand, own, page, words }) => {
    await hand.follow(words.delivery.figures);
    await page.getByText(words.delivery.days(30)).first().waitFor();
    // They are written a few seconds after what they count.
    await until('they are there', async () => {
      await page.reload();
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      return (await page.getByText(own.code).count()) > 0;
    });
  },
  'the audit log by a filter': async ({ hand, own, page, words }) => {
    await hand.follow(words.machine.audit);
    await hand.click(page.locator('summary').filter({ hasText: words.machine.filter }));
    await hand.type(words.providers.codeLabel, own.code);
    await hand.press(words.machine.search);
    await page.waitForURL(`**provider=${own.code}**`);
    const entries = page
      .locator('main')
      .getByText(words.activity.sentences['install.add']({ id: 1, install_limit: 3 }));
    await entries.first().waitFor();
  },
  'the doctor examines, and the chain is whole': async ({ hand, page, words }) => {
    await hand.follow(words.machine.health);
    await hand.press(words.machine.examine);
    await page.locator('.findings .badge').first().waitFor();
    await hand.follow(words.machine.audit);
    await hand.press(words.machine.verify);
    await page.locator('.good').first().waitFor();
    await hand.follow(words.machine.settings);
    await page.getByText(server.dataDir).first().waitFor();
  },
  'the provider is removed once its code is typed': async ({ beside, hand, own, page, words }) => {
    await hand.follow(words.providers.title);
    await page.getByRole('button', { name: 'Northwind' }).click();
    await hand.press(words.providers.remove, beside);
    const dialog = beside.locator('dialog[open]');
    await hand.type(words.providers.typeCode(own.code), own.code, dialog);
    await hand.press(words.providers.remove, dialog);
    await beside.waitFor({ state: 'detached' });
    expect(await isAnswered(own)).toBe(0);
  },
};

describe.each(TRIED)('the operator, %s', (locale, base) => {
  let scene: Scene;
  beforeAll(async () => {
    // Its own server: sentences name what is numbered there from 1.
    server = await startServe();
    site = siteOf(server);
    if (!HAS_CHROMIUM) return;
    const visited = await visit({ browser, site }, await entryPath(server), { locale });
    const words = { ...base, ...(locale === 'fa-IR' ? fa : en) };
    await visited.page.getByRole('heading', { level: 1, name: words.account.title }).waitFor();
    const own = { code: '', authKey: '' };
    scene = { ...visited, words, own, beside: visited.page.locator('aside') };
  });
  afterAll(async () => {
    await scene?.close();
    await server.stop();
  });

  testChromium.each(Object.entries(FLOWS))('%s', async (_name, flow) => {
    await flow(scene);
    expect(scene.troubles).toEqual([]);
  });
});
