/** The surfaces on which each field of a link and a provider can be set, and by whom. */

import { expect, test } from 'bun:test';
import type { Command } from 'commander';
import { type CallName, RECORDS } from '../../src/call/table.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { texts as en } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { texts as ru } from '../../src/console/texts/ru.ts';
import { texts as zh } from '../../src/console/texts/zh.ts';
import { fieldsOf, rowsOf } from '../../src/core/field.ts';
import { LINK_FORM, type LinkForm } from '../../src/core/link-form.ts';
import type { OwnLink } from '../../src/core/port/link.ts';
import type { ProviderTerms } from '../../src/core/port/provider.ts';
import { LINK_FIELDS, type Party, PROVIDER_FIELDS } from '../../src/core/terms.ts';
import { WEBHOOK_SETTINGS, type WebhookSettings } from '../../src/core/webhook-fields.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { labels } from '../../src/labels/en.ts';
import { labels as ofFa } from '../../src/labels/fa.ts';
import { labels as ofRu } from '../../src/labels/ru.ts';
import { labels as ofZh } from '../../src/labels/zh.ts';
import { EN } from '../../src/webhook/telegram/en.ts';
import { FA } from '../../src/webhook/telegram/fa.ts';
import { RU } from '../../src/webhook/telegram/ru.ts';
import { ZH } from '../../src/webhook/telegram/zh.ts';

/** The names of a field on surfaces, where they are not its outside name. */
const SHORT: Readonly<Record<string, readonly string[]>> = {
  installLimit: ['limit'],
  subscriptionKeyHash: ['key'],
  activeUntilMs: ['expires', 'lastDay'],
  installCountMax: ['linkCountMax'],
  suspendedAtMs: ['isSuspended', 'suspend'],
};
const LANGUAGES = [
  [labels, EN, en],
  [ofRu, RU, ru],
  [ofFa, FA, fa],
  [ofZh, ZH, zh],
] as const;
const program = buildProgram({} as Parameters<typeof buildProgram>[0]);

function command(path: string): Command {
  return path.split(' ').reduce((above, name) => {
    const found = above.commands.find((one) => one.name() === name);
    if (found === undefined) throw new Error(`no command ${path}`);
    return found;
  }, program as Command);
}

const paramsOf = (path: string) =>
  Object.keys(endpoints.find((one) => one.path === `/api/${path}`)?.params ?? {});
const optionsOf = (path: string) => [
  command(path).name(),
  ...command(path).options.map((option) => option.long?.replace(/^--(?:no-)?/, '') ?? ''),
];

/** The fields of all objects in an input, such as the drafts of `links.add-many`. */
function inputsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { properties?: object };
  const inner = [...Object.values(properties), ...Object.values(rest)];
  return [...Object.keys(properties), ...inner.flatMap(inputsIn)];
}
const callOf = (name: CallName) => inputsIn(RECORDS.find(([one]) => one === name)?.[1].input);

type Surfaces = Readonly<Record<string, readonly string[]>>;
const apis = (...paths: string[]): Surfaces =>
  Object.fromEntries(paths.map((path) => [path, paramsOf(path)]));
const commands = (...paths: string[]): Surfaces =>
  Object.fromEntries(paths.map((path) => [path, optionsOf(path)]));
const calls = (...names: CallName[]): Surfaces =>
  Object.fromEntries(names.map((name) => [name, callOf(name)]));

/** Returns the surfaces that set each field, with the parties of these surfaces. */
function settersOf(fields: readonly { field: string; name: string }[], surfaces: Surfaces) {
  const setters = fields.map(({ field, name }) => {
    const names = [name, name.replaceAll('_', '-'), field, ...(SHORT[field] ?? [])];
    const on = Object.keys(surfaces).filter((surface) =>
      surfaces[surface]?.some((one) => names.includes(one)),
    );
    return [field, on.join(', ')];
  });
  return Object.fromEntries(setters) as Record<string, string>;
}

const ofLink = settersOf(rowsOf<OwnLink>(LINK_FIELDS), {
  ...apis('add-install', 'update-install'),
  ...commands('link add', 'link import', 'link set'),
  ...calls('links.add', 'links.add-many', 'links.edit', 'links.bulk'),
  CSV: rowsOf<LinkForm>(LINK_FORM).map(({ name }) => name),
});

const ofProvider = settersOf(rowsOf<ProviderTerms>(PROVIDER_FIELDS), {
  ...apis('policy'),
  ...commands('provider add', 'provider set', 'provider suspend'),
  ...calls('providers.add', 'providers.edit', 'page.set', 'reminders.hours'),
});

const TERM = 'add-install, update-install, link add, link import, link set';

test('each field of a link is set where it was in 0.20.0', () => {
  const expected: Record<keyof OwnLink, string> = {
    installLimit: `${TERM}, links.add, links.add-many, links.edit, links.bulk, CSV`,
    note: 'add-install, update-install, link add, link set, links.add, links.add-many, links.edit, links.bulk, CSV',
    greeting: `${TERM}, links.add, links.add-many, links.edit, links.bulk, CSV`,
    status: 'update-install, link set, links.edit, links.bulk',
    subscriptionKeyHash: 'add-install, update-install, link add, link set, links.add-many, CSV',
    inactiveDays: TERM,
    whenFull: TERM,
    coolDownHours: TERM,
    enforce: TERM,
    withoutHwid: TERM,
    samePhone: TERM,
    samePhoneHours: TERM,
    copiedHwid: TERM,
    whenNew: TERM,
    supportUrl: TERM,
    webPageUrl: TERM,
  };
  expect(ofLink).toEqual(expected);
});

const BY_OPERATOR = 'provider add, provider set, providers.add, providers.edit';
const OWN = `policy, ${BY_OPERATOR}`;

test('each field of a provider is set where it was in 0.20.0, and the page by the API too', () => {
  const expected: Record<keyof ProviderTerms, string> = {
    name: BY_OPERATOR,
    plan: BY_OPERATOR,
    activeUntilMs: BY_OPERATOR,
    installCountMax: BY_OPERATOR,
    suspendedAtMs: 'provider suspend, providers.edit',
    inactiveDays: OWN,
    whenFull: OWN,
    coolDownHours: OWN,
    enforce: OWN,
    withoutHwid: OWN,
    samePhone: OWN,
    samePhoneHours: OWN,
    copiedHwid: OWN,
    whenNew: OWN,
    ride: OWN,
    rideDesktop: OWN,
    supportUrl: `${OWN}, page.set`,
    webPageUrl: `${OWN}, page.set`,
    buttons: OWN,
    discovery: OWN,
    my: 'policy, provider set, page.set',
    myName: 'policy, provider set, page.set',
    myColor: 'policy, provider set, page.set',
    myTraffic: 'policy, provider set, page.set',
    myCutOff: 'provider set, page.set',
    rc2Body: OWN,
    shortCodes: OWN,
    subscriptionFigures: OWN,
    quietFrom: `${OWN}, reminders.hours`,
    quietTo: `${OWN}, reminders.hours`,
    timeZone: `${OWN}, reminders.hours`,
  };
  expect(ofProvider).toEqual(expected);
});

test('each setting of a webhook is set by its provider, staff and the operator', () => {
  const surfaces = {
    ...apis('webhook-add', 'webhook-update'),
    ...commands('webhook add', 'webhook set'),
    ...calls('webhooks.add', 'webhooks.edit'),
  };
  const all = Object.keys(surfaces).join(', ');
  const rows = rowsOf<WebhookSettings>(WEBHOOK_SETTINGS);
  const expected = Object.fromEntries(rows.map(({ field }) => [field, all]));
  expect(settersOf(rows, surfaces)).toEqual(expected);
});

/** The party of a surface. */
function partyOf(surface: string): Party {
  if (surface === 'CSV' || /^(?:links|page|reminders)\./.test(surface)) return 'staff';
  return /^(?:link|provider)[ s]/.test(surface) ? 'operator' : 'provider';
}

const partiesOf = (on = '') => [...new Set(on.split(', ').map(partyOf))].sort();

test('exactly the parties that may set a field can', () => {
  for (const field of fieldsOf(LINK_FIELDS)) {
    const may = [...LINK_FIELDS[field].may].sort();
    expect([field, ...partiesOf(ofLink[field])]).toEqual([field, ...may]);
  }
  for (const field of fieldsOf(PROVIDER_FIELDS)) {
    const may = [...PROVIDER_FIELDS[field].may].sort();
    expect([field, ...partiesOf(ofProvider[field])]).toEqual([field, ...may]);
  }
});

test('the help of each option that sets a field begins with its label', () => {
  const labelled = [
    [rowsOf<OwnLink>(LINK_FIELDS), ['link add', 'link import', 'link set']],
    [rowsOf<ProviderTerms>(PROVIDER_FIELDS), ['provider add', 'provider set']],
    [rowsOf<WebhookSettings>(WEBHOOK_SETTINGS), ['webhook add', 'webhook set']],
  ] as const;
  let count = 0;
  for (const [rows, paths] of labelled) {
    const options = paths.flatMap((path) => command(path).options);
    for (const { field, name } of rows) {
      const flags = [name.replaceAll('_', '-'), ...(SHORT[field] ?? [])].map((one) => `--${one}`);
      const label = labels[name as keyof typeof labels];
      for (const { description, long } of options) {
        if (!flags.includes(long ?? '')) continue;
        const text = description.replace(/^(?:the|a) /, '').slice(0, label.length);
        expect([long, text]).toEqual([long, label]);
        count++;
      }
    }
  }
  expect(count).toBeGreaterThan(50);
});

test('Telegram and the console show the labels of the one table, in each language', () => {
  for (const [table, telegram, console] of LANGUAGES) {
    expect(telegram.values).toMatchObject(table);
    expect(console.labels).toBe(table);
  }
});

test('the calls of staff are those of these roles', () => {
  const senders = ['owner', 'sender', 'operator'];
  const mayOf = (name: CallName): readonly string[] =>
    RECORDS.find(([one]) => one === name)?.[1].may ?? [];
  for (const name of ['links.add', 'links.add-many', 'links.edit', 'links.bulk'] as const) {
    expect(mayOf(name)).toEqual(senders);
  }
  expect(mayOf('page.set')).toEqual(['owner', 'operator']);
  expect(mayOf('providers.edit')).toEqual(['operator']);
});
