/**
 * The bodies of the OpenAPI document against the program: what a schema allows is read, and what it
 * forbids is refused. So neither can change without the other.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Credentials } from '../../src/core/provider.ts';
import { call, type Reply, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { breaches, inputSchemaAt } from '../support/openapi.ts';
import { fitting, type Samples, spoilings } from '../support/schema-arbitrary.ts';
import { aRegisteredDevice, TOKEN } from './scenarios/scenario.ts';

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
  own = await seedProvider(app);
  await aRegisteredDevice()(app);
});
afterAll(() => app.close());

/** What a schema says in words: dates that are to come, HTML that shows something, addresses. */
const SAMPLES: Samples = {
  date: ['2026-11-22', '2027-02-28'],
  'text/html': ['Hello', '<b>Tonight</b>', '5 > 3', '<img src="https://example.com/a.png">', 'Я'],
  'application/octet-stream': [
    'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  ],
  uri: ['https://example.com', 'http://example.com:8080/a?b=c#d', 'HTTPS://example.com/', 'tg:x'],
};

type Body = Record<string, unknown>;

async function send(path: string, body: unknown): Promise<Reply> {
  const credentials = path.startsWith('/remote/') ? own : null;
  const headers = { authorization: `Bearer ${TOKEN}` };
  // A registration with the token of the other HWID would be refused for that.
  const init = path === '/device/ack' ? { headers } : {};
  return await call(
    app,
    path,
    credentials,
    {},
    { method: 'POST', body: JSON.stringify(body), ...init },
  );
}

/** Texts that say that the body did not fit; what else is refused is refused for what it names. */
const MISFITS = [
  'Unknown error',
  'HWID is required',
  'HWID is required for specific device',
  'Select at least one OS or enable specific device',
  'Import data cannot be empty',
  'Settings cannot be empty',
];

interface BodyCase {
  path: string;
  /** Fields that the program does not look at beside what is there: spoiling them shows nothing. */
  unread: (body: Body) => string[];
}

const CASES: readonly BodyCase[] = [
  { path: '/remote/notification', unread: ({ hwid }) => (hwid === undefined ? [] : ['os']) },
  { path: '/remote/command', unread: unreadByCommand },
  // Whose codes they are is asked later, and has answers of its own.
  { path: '/device/register', unread: () => ['install_code', 'provider_code', 'domain_hash'] },
  // A reason that is no text is no reason to turn the state away.
  { path: '/device/ack', unread: () => ['items[].detail'] },
];

function unreadByCommand(body: Body): string[] {
  const toggle = body['specific_device_toggle'] ?? body['hwid'] !== undefined;
  // The toggle itself decides what is looked at.
  return [toggle ? 'os' : 'hwid', 'specific_device_toggle'];
}

/** A range says from and to; that the one is not above the other no pattern can say. */
function straightened(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, field]) => {
    const [, from, to] = /^(\d+)-(\d+)$/.exec(typeof field === 'string' ? field : '') ?? [];
    const isCrossed = to !== undefined && Number(from) > Number(to);
    return [
      key,
      isCrossed && key.startsWith('fragmentation') ? `${to}-${from}` : straightened(field),
    ];
  });
  return Object.fromEntries(entries);
}

describe.each(CASES)('$path', ({ path, unread }) => {
  const schema = inputSchemaAt(path);

  test('reads what the schema allows', async () => {
    await fc.assert(
      fc.asyncProperty(fitting(schema, SAMPLES).map(straightened), async (body) => {
        expect(breaches(schema, body)).toEqual([]);
        const { headers, json } = await send(path, body);
        const said = `${json.msg}: ${headers.get('x-error-detail')}`;
        expect(MISFITS.includes(json.msg) ? said : '').toBe('');
      }),
      { numRuns: 150 },
    );
  });

  test('refuses what the schema forbids', async () => {
    const spoilt = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fitting(schema, SAMPLES).map(straightened), fc.nat(), async (body, at) => {
        const ignored = unread(body as Body);
        const wrong = spoilings(schema, body).filter(
          ({ path: where, value }) =>
            !ignored.includes(where.replace(/\[\]$/, '')) &&
            !isForgiven(value) &&
            breaches(schema, value).length > 0,
        );
        const one = wrong[at % wrong.length];
        if (one === undefined) return;
        spoilt.add(one.path);
        const reply = await send(path, one.value);
        const isRefused =
          MISFITS.includes(reply.json.msg) || isTargetRefused(one.path, reply, one.value);
        expect(isRefused ? '' : `${one.path} ${JSON.stringify(one.value)} ${reply.text}`).toBe('');
      }),
      { numRuns: 300 },
    );
    expect(spoilt.size).toBeGreaterThan(1);
  });
});

const FILTERS = ['ends_in_days', 'ended', 'traffic_over', 'unread_days'];

/** Blanks and empty items of a list between commas are passed over. */
function isForgiven(body: unknown): boolean {
  return [' ', 'a,,b'].includes(String((body as Body | null)?.['hwid']));
}

/** What can be nobody's HWID is answered like what is nobody's, and an empty os like none. */
function isTargetRefused(path: string, { headers, json }: Reply, body: unknown): boolean {
  // The main key has no figures, whatever else is wrong.
  if (FILTERS.some((name) => name in (body as Body))) return json.msg === 'Auth error';
  if (path === 'hwid') return json.msg === 'Device with this HWID not found';
  return path === 'os' && headers.get('x-error-detail') === 'os or hwid is required';
}
