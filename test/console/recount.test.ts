/**
 * Each number on a page beside the SQL that counts it again. A row names the page, where the number
 * stands, and the statement; the numbers of the page are read as a person reads them.
 */

import { beforeAll, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { texts as base } from '../../src/console/texts/en.ts';
import { texts as operators } from '../../src/console/texts/operator-en.ts';
import { call } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { register } from '../support/messaging.ts';
import { operatorEntry } from '../support/operator.ts';
import { counted } from '../support/recount.ts';
import { HASH } from '../support/shop.ts';

const en = { ...base, ...operators };
const HOUR_MS = 3_600_000;
const DAYS = 14;

const site = useConsoleSite();
let world: World;
/** The message whose funnel is counted: devices that read an inbox, and some that have none. */
let messageId: number;

async function send(form: object, target: object): Promise<number> {
  const whole = { title: 'Hello', body: 'x', type_push: 'optional', expire_days: 2, ...form };
  const body = JSON.stringify({ PushNotificationForm: whole, ...target });
  const sent = await call(
    site.app,
    '/remote/notification',
    world.own,
    {},
    { method: 'POST', body },
  );
  return sent.json.id;
}

function inHours(hours: number) {
  const local = new Date(site.app.clock.nowMs() + (3 + hours) * HOUR_MS).toISOString();
  return { send_date: local.slice(0, 10), send_time: local.slice(11, 16) };
}

beforeAll(async () => {
  const { app } = site;
  world = await makeWorld(app);
  // A phone that reads its inbox, and others on links that never asked for messages.
  const by = { hwid: 'reads', provider_code: world.own.code, domain_hash: HASH };
  await call(app, '/provider', null, {
    id: world.own.code,
    domain_hash: HASH,
    hwid: 'reads',
    os_name: 'ios',
  });
  await register(app, by);
  messageId = await send({}, { os: ['ios'] });
  await app.deliver();
  // The soonest was made in between.
  for (const hours of [30, 20, 40]) await send(inHours(hours), { hwid: 'reads' });
  await call(app, '/api/webhook-add', world.own, { url: 'https://bot.example.com/' });
  for (const note of ['one', 'two']) await call(app, '/api/add-install', world.own, { note });
  await app.core.store.saveFigures();
});

type Who = 'provider' | 'operator';

const signIns = {
  provider: () => ['session.key', { code: world.own.code, key: world.own.authKey }] as const,
  operator: async () => ['session.entry', { secret: await operatorEntry(site.app) }] as const,
};

/** The numbers in each text of a place: digits, without the marks between thousands. */
async function numbersAt(page: Page, place: string): Promise<number[]> {
  await page.locator(place).first().waitFor();
  const found = await page.locator(place).allInnerTexts();
  return found.flatMap((text) =>
    (text.match(/\d[\d,]*/g) ?? []).map((one) => Number(one.replaceAll(',', ''))),
  );
}

const OWN = `(SELECT id FROM provider WHERE code = :code)`;
const FROM_DAY = `(SELECT max(day) - ${DAYS - 1} FROM provider_day)`;
const REFUSED = 'refused_hwid + refused_domain + refused_disabled + refused_full';
const figure = (label: string) =>
  `.figure:has(dt:text-is("${label}")) dd >> xpath=text()[1]/.. >> nth=0`;
const card = (title: string) => `.card:has(h2:text-is("${title}"))`;
const bar = (name: string) => `.funnel-row:has(dt:text-is("${name}")) .funnel-count`;
const way = (name: string) => `.way:has(dt:text-is("${name}")) dd`;
const fact = (name: string) => `dl > div:has(dt:text-is("${name}")) dd`;

interface Row {
  who?: Who;
  path: string | (() => string);
  place: string;
  /** Statements whose first columns follow one another on the page; `:code` is the provider's. */
  sql: readonly string[];
}

const overview = en.overview;
const message = () => `/console/messages?message=${messageId}`;
const link = () => `/console/links?link=${world.linkId}`;
const ofMessage =
  (what: string, where = 'true') =>
  () =>
    `SELECT ${what} FROM recipient r WHERE r.distribution_id = ${messageId} AND ${where}`;
/** An app reads the inbox of the row. */
const IS_READ = `EXISTS (SELECT 1 FROM device_provider p WHERE p.device_id = r.device_id
  AND p.provider_id = r.inbox AND p.token_id IS NOT NULL)`;

const ROWS: readonly (Omit<Row, 'sql'> & { sql: readonly (string | (() => string))[] })[] = [
  {
    path: '/console',
    place: figure(overview.links),
    sql: [
      `SELECT count(*) FROM install WHERE provider_id = ${OWN}`,
      () => `SELECT ${site.app.core.limits.linksPerProviderMax}`,
    ],
  },
  {
    path: '/console',
    place: figure(overview.full),
    sql: [
      `SELECT count(*) FROM install i WHERE provider_id = ${OWN} AND install_limit <=
      (SELECT count(*) FROM install_device s WHERE s.install_id = i.id)`,
    ],
  },
  {
    path: '/console',
    place: figure(overview.admitted),
    sql: [`SELECT count(*) FROM install_device WHERE provider_id = ${OWN}`, `SELECT ${DAYS}`],
  },
  {
    path: '/console',
    place: figure(overview.refused),
    sql: [
      `SELECT sum(${REFUSED}) FROM provider_day WHERE provider_id = ${OWN} AND day >= ${FROM_DAY}`,
      `SELECT ${DAYS}`,
    ],
  },
  {
    path: '/console',
    place: '.bars tbody td:nth-child(2)',
    sql: [`SELECT admitted FROM provider_day WHERE provider_id = ${OWN} ORDER BY day`],
  },
  {
    path: '/console',
    place: '.bars tbody td:nth-child(3)',
    sql: [`SELECT ${REFUSED} FROM provider_day WHERE provider_id = ${OWN} ORDER BY day`],
  },
  {
    path: '/console',
    place: `${card(overview.mix)} .number`,
    sql: [
      `SELECT count(*) FROM device_provider p WHERE p.provider_id = ${OWN}
      GROUP BY p.os, p.user_agent ORDER BY 1 DESC`,
    ],
  },
  {
    path: '/console',
    place: `${card(overview.refusals)} .number`,
    sql: [
      `SELECT refused_count FROM install_refusal r JOIN install i ON i.id = r.install_id
      WHERE i.provider_id = ${OWN} AND r.day = (SELECT max(day) FROM provider_day)
      ORDER BY r.refused_at_ms DESC, 1 DESC LIMIT 5`,
    ],
  },
  {
    path: '/console',
    place: `${card(overview.quotas)} li:first-child .number`,
    sql: [
      `SELECT count(*) FROM install WHERE provider_id = ${OWN}`,
      () => `SELECT ${site.app.core.limits.linksPerProviderMax}`,
    ],
  },
  {
    path: '/console/links',
    place: '.below [role=status]',
    sql: [`SELECT count(*) FROM install WHERE provider_id = ${OWN}`],
  },
  {
    path: '/console/links',
    place: 'tr:has([data-row="0"]) .c-devices bdi',
    sql: [
      `SELECT (SELECT count(*) FROM install_device s WHERE s.install_id = i.id) FROM install i
        WHERE provider_id = ${OWN} ORDER BY id DESC LIMIT 1`,
      `SELECT install_limit FROM install WHERE provider_id = ${OWN} ORDER BY id DESC LIMIT 1`,
    ],
  },
  {
    path: link,
    place: fact(en.link.devices),
    sql: [
      () => `SELECT count(*) FROM install_device WHERE install_id = ${world.linkId}`,
      () => `SELECT install_limit FROM install WHERE id = ${world.linkId}`,
    ],
  },
  {
    path: message,
    place: bar(en.messages.steps.queued),
    sql: [ofMessage('count(*)')],
  },
  // Those whose app never asked for messages have no inbox.
  {
    path: message,
    place: bar(en.messages.steps.sent),
    sql: [ofMessage('count(*)', `r.state = 2 AND ${IS_READ}`)],
  },
  {
    path: message,
    place: bar(en.messages.steps.received),
    sql: [ofMessage('count(r.received_at_ms)')],
  },
  {
    path: message,
    place: bar(en.messages.steps.opened),
    sql: [ofMessage('count(r.opened_at_ms)')],
  },
  {
    path: message,
    place: bar(en.messages.steps.failed),
    sql: [ofMessage('count(*)', 'r.state = 3')],
  },
  {
    path: message,
    place: bar(en.messages.steps.expired),
    sql: [ofMessage('count(*)', 'r.state = 4')],
  },
  {
    path: message,
    place: way(en.messages.way.none),
    sql: [ofMessage('count(*)', `NOT ${IS_READ}`)],
  },
  {
    path: message,
    place: way(en.messages.way.inbox),
    sql: [ofMessage('count(*)', IS_READ)],
  },
  {
    path: '/console/messages?show=ended',
    place: 'tr:has(.message-title) .share bdi',
    sql: [
      `SELECT CASE n.part WHEN 1 THEN x.sent_count ELSE x.recipient_count END FROM distribution x
        CROSS JOIN (SELECT 1 AS part UNION ALL SELECT 2) n
        WHERE x.provider_id = ${OWN} AND x.status >= 100 ORDER BY x.id DESC, n.part`,
    ],
  },
  {
    path: '/console/messages',
    place: '.below [role=status]',
    sql: [`SELECT count(*) FROM distribution WHERE provider_id = ${OWN}`],
  },
  {
    path: '/console/webhooks',
    place: fact(en.webhooks.waiting),
    sql: [
      `SELECT (SELECT count(*) FROM outbox o JOIN destination d ON d.id = o.destination_id
      WHERE d.webhook_id = w.id) FROM webhook w WHERE w.provider_id = ${OWN} ORDER BY w.id DESC`,
    ],
  },
  {
    who: 'operator',
    path: '/console/providers',
    place: 'tbody td.number:nth-child(5)',
    sql: [`SELECT count(*) FROM install WHERE provider_id = ${OWN}`],
  },
  {
    who: 'operator',
    path: '/console/figures?days=14',
    place: 'tbody tr td.number',
    sql: [
      'seen',
      'admitted',
      REFUSED,
      'freed',
      'links',
      'sends',
      'delivered',
      'opened',
      'expired',
    ].map((sum) => `SELECT sum(${sum}) FROM provider_day WHERE day >= ${FROM_DAY}`),
  },
  {
    who: 'operator',
    path: '/console/health',
    place: fact(en.machine.scheduled),
    sql: ['SELECT count(*) FROM distribution WHERE status = 10 AND due_at_ms > created_at_ms'],
  },
];

const statementOf = (sql: string | (() => string)) =>
  (typeof sql === 'string' ? sql : sql()).replaceAll(':code', `'${world.own.code}'`);

testChromium.each(['provider', 'operator'] as const)(
  'what a %s is shown, counted again',
  async (who) => {
    const tab = await openTab(site, [...(await signIns[who]())] as never, '/blank');
    for (const { path, place, sql, who: of = 'provider' } of ROWS) {
      if (of !== who) continue;
      const at = typeof path === 'string' ? path : path();
      await tab.page.goto(`${site.url}${at}`);
      const again: number[] = [];
      for (const one of sql) again.push(...(await counted(site.app, statementOf(one))));
      expect([at, place, await numbersAt(tab.page, place)]).toEqual([at, place, again]);
    }
  },
);

testChromium('the next sends are the soonest, in their order', async () => {
  const tab = await openTab(site, [...signIns.provider()], '/console');
  const next = tab.page.locator(`${card(overview.next)} li button`);
  const again = await counted(
    site.app,
    statementOf(`SELECT id FROM distribution WHERE provider_id = ${OWN} AND status = 10
      ORDER BY due_at_ms LIMIT 5`),
  );
  expect(again).not.toEqual(again.toSorted((one, other) => one - other));
  expect(again).not.toEqual(again.toSorted((one, other) => other - one));
  const shown: number[] = [];
  await next.first().waitFor();
  for (let n = 0; n < (await next.count()); n++) {
    await next.nth(n).click();
    await tab.page.waitForURL(/message=/);
    shown.push(Number(new URL(tab.page.url()).searchParams.get('message')));
    await tab.page.goBack();
    await next.first().waitFor();
  }
  expect(shown).toEqual(again);
});
