/**
 * What the pages show, compared with a recount: the overview with the list of links and the devices
 * of the world, the link panel with the store, health and gateways with the answer of their call.
 */

import { beforeAll, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Got } from '../../src/call/table.ts';
import { texts as base } from '../../src/console/texts/en.ts';
import { texts as own } from '../../src/console/texts/operator-en.ts';
import { countMixes } from '../../src/core/device-mix.ts';
import { call } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { operatorEntry } from '../support/operator.ts';
import { becomes } from '../support/until.ts';

const en = { ...base, ...own };

const site = useConsoleSite();
let world: World;
beforeAll(async () => {
  world = await makeWorld(site.app);
  await countMixes(site.app.core, site.app.clock.nowMs(), new AbortController().signal);
});

async function openOf(path: string): Promise<Page> {
  const { code, authKey: key } = world.own;
  const tab = await openTab(site, ['session.key', { code, key }], path);
  return tab.page;
}

/** Opens a page of the operator whose call answers this. */
async function openWith(path: string, name: string, answer: unknown): Promise<Page> {
  const tab = await openTab(
    site,
    ['session.entry', { secret: await operatorEntry(site.app) }],
    '/blank',
  );
  const body = JSON.stringify({ ok: answer });
  await tab.page.route(`**/console/call/${name}`, (route) =>
    route.fulfill({ status: 200, contentType: 'application/json', body }),
  );
  await tab.page.goto(`${site.url}${path}`);
  return tab.page;
}

/** The texts of all elements, without doubled blanks. */
const textsOf = async (page: Page, selector: string) =>
  (await page.locator(selector).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());

const card = (page: Page, title: string) =>
  page.locator('.card').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

const rowsOf = async (page: Page, title: string) =>
  (await card(page, title).locator('li').allInnerTexts()).map((text) =>
    text.replace(/\s+/g, ' ').trim(),
  );

interface Counted {
  install_code: string;
  install_limit: number;
  install_count: number;
  note: string;
}

/** Requests to the link with this number in the world: see `addBusyLink`. */
const requestsTo = (n: number) => (n * 5) % 7;

testChromium('the overview counts as the list of links does', async () => {
  const page = await openOf('/console');
  await page.locator('.figures').waitFor();
  const { json } = await call(site.app, '/api/list-install', world.own);
  const links: Counted[] = [...json.data].reverse();
  const admitted = links.reduce((sum, link) => sum + link.install_count, 0);
  const refused = links.map((link, n) => Math.max(0, requestsTo(n) - link.install_limit));
  const words = en.overview;
  const max = site.app.core.limits.linksPerProviderMax.toLocaleString('en-GB');
  const full = links.filter((link) => link.install_count >= link.install_limit).length;
  expect(new Set([links.length, admitted, full]).size).toBe(3);
  expect(await textsOf(page, '.figure dd')).toEqual([
    `${links.length} ${words.ofMax(max)}`,
    `${full}`,
    `${admitted} ${words.fortnight}`,
    `${refused.reduce((sum, count) => sum + count, 0)} ${words.fortnight}`,
  ]);
  // Three links a day: those of the last day.
  const today = links.flatMap(({ install_code: code }, n) => {
    const count = refused[n] ?? 0;
    return n >= links.length - 3 && count > 0 ? [{ code, count, note: links[n]?.note }] : [];
  });
  expect(today.length).toBeGreaterThan(0);
  expect((await rowsOf(page, words.refusals)).sort()).toEqual(
    today
      .map(
        ({ code, count, note }) =>
          `${code} ${note} ${en.reasons.link_limit_reached} ${words.refusalCount(count)}`,
      )
      .sort(),
  );
});

testChromium('the overview has the devices by system, and the use of each bound', async () => {
  const page = await openOf('/console');
  await page.locator('.mix').first().waitFor();
  const words = en.overview;
  const devices = await site.app.core.store.pageDevices(Number.MAX_SAFE_INTEGER, 500);
  const counts = new Map<string, number>();
  for (const { os } of devices) counts.set(os, (counts.get(os) ?? 0) + 1);
  const rows = await rowsOf(page, words.mix);
  const shown = rows.map((row) => [
    row.split(' ')[0]?.toLowerCase(),
    Number(row.split(' ').at(-1)),
  ]);
  expect(shown).toEqual([...counts].sort(([, one], [, other]) => other - one));
  const widths = await card(page, words.mix)
    .locator('rect.share-part')
    .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('width'))));
  const [, most = 1] = shown[0] ?? [];
  for (const [at, [, count]] of shown.entries()) {
    expect(widths[at]).toBeCloseTo((100 * Number(count)) / Number(most), 5);
  }
  const { json } = await call(site.app, '/api/list-install', world.own);
  const bounds = await rowsOf(page, words.quotas);
  const max = site.app.core.limits.linksPerProviderMax.toLocaleString('en-GB');
  expect(bounds).toContain(`${words.quota.links} ${words.usedOf(`${json.data.length}`, max)}`);
  expect(bounds.find((row) => row.startsWith(words.quota.domains))).toContain(' 2 ');
});

testChromium('the panel of a link has what the store has of it', async () => {
  const page = await openOf(`/console/links?link=${world.linkId}`);
  const panel = page.locator('.message-panel');
  await panel.locator('.list').first().waitFor();
  const link = await site.app.core.store.findLinkById(world.linkId);
  const { json } = await call(site.app, '/api/list-hwid', world.own, {
    install_code: link?.installCode ?? '',
  });
  const devices: { hwid: string; device_name: string }[] = json.data;
  expect(devices.length).toBeGreaterThan(1);
  const facts = await textsOf(page, '.message-panel dl.facts > div');
  const { deviceCount = 0, installLimit = 0 } = link ?? {};
  expect(deviceCount).not.toBe(installLimit);
  expect(facts[0]).toBe(
    `${en.link.devices} ${en.links.ofLimit(`${deviceCount}`, `${installLimit}`)}`,
  );
  const rows = await textsOf(page, '.message-panel .device');
  expect(rows).toHaveLength(devices.length);
  for (const { device_name: name, hwid } of devices) {
    const row = rows.find((text) => text.includes(`${hwid} `)) ?? '';
    expect(row).toStartWith(`${name} ${hwid} `);
    expect(row).toMatch(/(Android|iOS|macOS|Windows) \d+/);
    expect(row).toContain('3.4.1');
  }
});

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
function healthAt(nowMs: number): Got<'health.read'> {
  return {
    process: {
      node: 'node-7',
      version: '1.2.3',
      startedAtMs: nowMs - DAY_MS,
      notReady: 'no disk',
      loopLagSeconds: 0.012,
      loopLateCount: 3,
      loopCount: 4_000,
      residentBytes: 64e6,
      openFiles: 41,
      openFilesMax: 65_536,
      certificateEndsAtMs: nowMs + 10 * DAY_MS,
      isDatabaseFile: false,
    },
    newer: '1.3.0',
    storage: { bytes: 5e6, logBytes: 6e6, diskFreeBytes: 7e9 },
    queue: { dueCount: 8, scheduledCount: 9, oldestDueAtMs: nowMs - MINUTE_MS },
    server: { connectionCount: 10, connectionCountMax: 100, clockOffsetMs: 11 },
    doctor: null,
  } as unknown as Got<'health.read'>;
}

testChromium('the page of health shows each fact of its answer beside its name', async () => {
  const words = en.machine;
  const nowMs = Date.now();
  const page = await openWith('/console/health', 'health.read', healthAt(nowMs));
  await page.locator('dl.facts').first().waitFor();
  expect(await page.getByRole('alert').textContent()).toContain('no disk');
  const facts = (await textsOf(page, 'dl.facts > div')).map((text) =>
    text.replaceAll('\u202f', ' '),
  );
  expect(facts).toEqual([
    `${words.node} node-7`,
    `${words.release} 1.2.3 ${words.newer('1.3.0')}`,
    expect.stringContaining(words.started),
    `${words.loop} ${words.loopLag('12')}`,
    `${words.loopLate} ${words.ofAll('3', '4,000')}`,
    expect.stringMatching(new RegExp(`^${words.memory} 6[14](\\.\\d)? M`)),
    `${words.openFiles} ${words.ofAll('41', '65,536')}`,
    expect.stringContaining(words.certificate),
    `${words.database} PostgreSQL`,
    expect.stringMatching(new RegExp(`^${words.size} (5|4\\.8) M`)),
    expect.stringMatching(new RegExp(`^${words.log} (6|5\\.7) M`)),
    expect.stringMatching(new RegExp(`^${words.diskFree} (7|6\\.5) G`)),
    `${words.due} 8`,
    `${words.scheduled} 9`,
    expect.stringContaining(words.oldestDue),
    `${words.connections} ${words.ofAll('10', '100')}`,
    `${words.clock} ${words.milliseconds('11')}`,
  ]);
  // A certificate that ends within a fortnight is marked.
  await becomes(() => page.locator('dl.facts .badge.bad').count(), 1);
});

testChromium('health without what a file has not says so', async () => {
  const words = en.machine;
  const { process, queue, storage, ...rest } = healthAt(Date.now());
  const page = await openWith('/console/health', 'health.read', {
    ...rest,
    process: {
      ...process,
      isDatabaseFile: true,
      loopLagSeconds: null,
      openFiles: null,
      certificateEndsAtMs: null,
      notReady: null,
    },
    storage: { ...storage, logBytes: null, diskFreeBytes: null },
    queue: { ...queue, oldestDueAtMs: null },
    server: null,
  });
  await page.locator('dl.facts').first().waitFor();
  const facts = await textsOf(page, 'dl.facts > div');
  await becomes(() => page.getByRole('alert').count(), 0);
  for (const fact of [
    `${words.loop} ${words.unknown}`,
    `${words.openFiles} ${words.unknown}`,
    `${words.certificate} ${words.noTls}`,
    `${words.database} SQLite`,
  ]) {
    expect(facts).toContain(fact);
  }
  const absent = [words.log, words.diskFree, words.oldestDue, words.connections, words.clock];
  for (const name of absent) expect(facts.some((fact) => fact.startsWith(name))).toBe(false);
});

testChromium(
  'the page of gateways shows the state, the queue and the problem of each',
  async () => {
    const words = en.delivery;
    const atMs = Date.UTC(2026, 10, 20, 12);
    const none = { oldestAtMs: null, retryAtMs: null, stoppedAtMs: null, problem: null };
    const gateway = { ...none, isSetUp: true, failingCount: 0, serviceCount: 0, services: null };
    const page = await openWith('/console/gateways', 'gateways.list', {
      gateways: [
        {
          ...gateway,
          gateway: 'fcm',
          state: 'stopped',
          waitingCount: 21,
          stoppedAtMs: atMs,
          problem: 'bad key',
        },
        { ...gateway, gateway: 'apns', state: null, isSetUp: false, waitingCount: 0 },
        {
          ...gateway,
          gateway: 'webpush',
          state: null,
          waitingCount: 34,
          failingCount: 2,
          serviceCount: 5,
          retryAtMs: atMs,
          services: [
            {
              origin: 'https://push.example.org',
              state: 'failing',
              waitingCount: 33,
              problem: 'slow',
            },
          ],
        },
      ],
      webhooks: [
        {
          id: 1,
          address: 'hooks.example.org',
          provider: null,
          disabled: null,
          failingSinceMs: atMs,
          problem: 'status 500',
          waitingCount: 55,
        },
        {
          id: 2,
          address: 'bot.example.org',
          provider: world.own.code,
          disabled: { atMs, why: 'gone' },
          failingSinceMs: null,
          problem: 'gone',
          waitingCount: 0,
        },
      ],
      disabledCounts: { operator: 0, provider: 1 },
    });
    await page.locator('tbody tr').first().waitFor();
    const rows = await textsOf(page, 'tbody tr');
    expect(rows).toHaveLength(6);
    const [fcm, apns, web, service, operators, provider] = rows;
    expect(fcm).toBe(`FCM ${words.states.stopped} 21 bad key ${words.mend}`);
    expect(apns).toBe(`APNs ${words.notSetUp} 0`);
    expect(web).toStartWith(`Web Push ${words.someFail('2', '5')} 34 `);
    expect(web).toContain(words.retry('').trim().split(' ')[0] ?? '');
    expect(service).toBe(`https://push.example.org ${words.states.failing} 33 slow`);
    expect(operators).toStartWith(
      `hooks.example.org ${words.ofOperator} ${words.states.failing} 55 status 500 `,
    );
    expect(provider).toStartWith(`bot.example.org ${world.own.code} ${en.common.off} 0 gone`);
    await becomes(() => page.locator('tbody .badge.bad').count(), 2);
    // The operator's own webhook is at no provider, so nothing is opened there.
    await becomes(() => page.getByRole('button', { name: words.open, exact: true }).count(), 1);
  },
);
