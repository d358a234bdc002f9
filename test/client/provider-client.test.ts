/** How an import calls a foreign server: politely, patiently, and believing nothing. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  CallFailed,
  ProviderClient,
  type ProviderClientOptions,
} from '../../src/client/provider-client.ts';
import { FakeSource } from '../support/fake-source.ts';
import { until } from '../support/until.ts';

let source: FakeSource;
let nowMs = 0;
let pauses: number[] = [];
beforeEach(() => {
  source = new FakeSource();
  source.add(1);
  nowMs = Date.UTC(2026, 0, 1);
  pauses = [];
});
afterEach(() => source.stop());

/** Pauses take no time but move the clock. */
function client(more: Partial<ProviderClientOptions> = {}): ProviderClient {
  return new ProviderClient({
    url: source.url,
    providerCode: source.credentials.code,
    authKey: source.credentials.authKey,
    callsPerSecondMax: 100,
    userAgent: 'test/1',
    timeoutMs: 20_000,
    nowMs: () => nowMs,
    sleep: async (ms) => {
      pauses.push(ms);
      nowMs += ms;
    },
    signal: new AbortController().signal,
    ...more,
  });
}

const LIST = '/api/list-install';

async function failure(of: ProviderClient, path = LIST): Promise<string> {
  const error = await of.list(path, {}).catch((caught: unknown) => caught);
  if (!(error instanceof CallFailed)) throw new Error(`no CallFailed: ${String(error)}`);
  expect(`${error.message} ${error.stack}`).not.toContain(source.credentials.authKey);
  return error.message;
}

/** The first calls are answered so, the rest as they should be. */
function first(...answers: (() => unknown)[]): void {
  source.meddle = (_, __, n) => answers[n - 1]?.();
}

/** A client that has had an answer: from then on faults may pass. */
async function answered(more: Partial<ProviderClientOptions> = {}): Promise<ProviderClient> {
  const { meddle } = source;
  source.meddle = () => undefined;
  const begun = client(more);
  await begun.list(LIST, {});
  source.meddle = meddle;
  source.calls.length = 0;
  pauses.length = 0;
  return begun;
}

const status = (code: number, headers: Record<string, string> = {}) =>
  new Response('<html>', { status: code, headers });

describe('pace', () => {
  test('calls begin no oftener than asked for, also side by side', async () => {
    const polite = client({ callsPerSecondMax: 4 });
    await Promise.all(Array.from({ length: 5 }, () => polite.list(LIST, {})));
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(1000);
    expect(source.calls).toHaveLength(5);
  });

  test('Retry-After is obeyed by all calls, in seconds and as a date', async () => {
    const date = new Date(Date.UTC(2026, 0, 1) + 90_000).toUTCString();
    first(
      () => status(429, { 'retry-after': '60' }),
      () => status(503, { 'retry-after': date }),
    );
    const patient = client();
    expect(await patient.list(LIST, {})).toHaveLength(1);
    expect(nowMs - Date.UTC(2026, 0, 1)).toBeGreaterThanOrEqual(90_000);
    expect(nowMs - Date.UTC(2026, 0, 1)).toBeLessThan(91_000);
  });

  test('Retry-After of one call delays later calls', async () => {
    const stop = new AbortController();
    const longPauses: number[] = [];
    first(() => status(429, { 'retry-after': '60' }));
    const patient = await answered({
      signal: stop.signal,
      // The clock stands still: a long pause lasts until the end.
      sleep: async (ms) => {
        if (ms < 1_000) return;
        longPauses.push(ms);
        await new Promise(() => {});
      },
    });
    const told = patient.list(LIST, {});
    await until('the first call gets Retry-After', () => longPauses.length === 1);
    const other = patient.list(LIST, {});
    await until('the other waits too', () => longPauses.length === 2);
    expect(longPauses[1]).toBeGreaterThanOrEqual(60_000);
    expect(source.calls).toHaveLength(1);
    stop.abort();
    const ends = await Promise.allSettled([told, other]);
    expect(ends.map(({ status: how }) => how)).toEqual(['rejected', 'rejected']);
  });

  test('a pause of an hour is left to the operator', async () => {
    first(() => status(429, { 'retry-after': '3600' }));
    expect(await failure(client())).toBe(
      'the source answers HTTP 429 and asks to wait 60 minutes: try again then',
    );
  });
});

describe('patience', () => {
  test('faults that pass are tried again, with growing pauses', async () => {
    const odd = [
      () => status(500),
      () => status(502),
      () => new Response('not json'),
      () => ({ rc: 'one', msg: 'Ok' }),
      () => ({ rc: 0, msg: 'Unknown error' }),
      () => [],
    ];
    first(...odd);
    const told: string[] = [];
    const patient = await answered({ onPause: (why) => told.push(why) });
    expect(await patient.list(LIST, {})).toHaveLength(1);
    expect(told).toEqual([
      'the source answers HTTP 500',
      'the source answers HTTP 502',
      'the source does not answer like this API',
      'the source does not answer like this API',
      'the source answers Unknown error',
      'the source does not answer like this API',
    ]);
    const long = pauses.filter((ms) => ms > 100);
    expect(long).toHaveLength(6);
    long.forEach((ms, n) => {
      expect(ms).toBeWithin(250 * 2 ** n, Math.min(750 * 2 ** n, 45_000) + 1);
    });
  });

  test('it ends: eight attempts, three of Unknown error', async () => {
    source.meddle = () => status(500);
    expect(await failure(client())).toBe(
      'the source answers HTTP 500 (/api/list-install, 8 attempts)',
    );
    expect(source.calls).toHaveLength(8);
    source.calls.length = 0;
    source.meddle = () => ({ rc: 0, msg: 'Unknown error' });
    expect(await client().list(LIST, {})).toEqual({ refusal: 'Unknown error' });
    expect(source.calls).toHaveLength(3);
  });

  test('an answer that does not come is given up and asked for again', async () => {
    const hang = Promise.withResolvers<unknown>();
    first(() => hang.promise);
    const impatient = await answered({ timeoutMs: 1_500 });
    expect(await impatient.list(LIST, {})).toHaveLength(1);
    hang.resolve(undefined);
    expect(source.calls).toHaveLength(2);
  });

  test('so is one that stops in the middle', async () => {
    first(() => {
      const half = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"rc":1,"data":[')),
      });
      return new Response(half);
    });
    expect(await (await answered({ timeoutMs: 1_500 })).list(LIST, {})).toHaveLength(1);
    expect(source.calls).toHaveLength(2);
  });

  test('no server any more', async () => {
    const left = await answered();
    await source.stop();
    expect(await failure(left)).toMatch(
      /^the source cannot be reached \(\w+\) \(\/api\/list-install, 8 attempts\)$/,
    );
  });

  const atFirst: [string, () => unknown, string][] = [
    ['another page', () => new Response('<html>'), 'the source does not answer like this API: is'],
    ['other JSON', () => ({ ok: true }), 'the source does not answer like this API: is'],
    ['silence', () => new Promise(() => {}), 'the source took longer than 0.2 s: is it there?'],
  ];
  test.each(atFirst)(
    '%s before any answer is a wrong address: said at once',
    async (_, answer, why) => {
      source.meddle = answer;
      expect(await failure(client({ timeoutMs: 200 }))).toStartWith(why);
      expect(source.calls).toHaveLength(1);
      expect(pauses.filter((ms) => ms > 0)).toEqual([]);
    },
  );

  test('no server from the beginning: reported at once', async () => {
    const of = client();
    await source.stop();
    expect(await failure(of)).toMatch(
      /^the source cannot be reached \(\w+\): is its address right\?$/,
    );
    expect(pauses.filter((ms) => ms > 0)).toEqual([]);
  });

  test('stops at once when told to, in a pause or in a call', async () => {
    const stop = new AbortController();
    source.meddle = () => status(500);
    const pausing = client({
      signal: stop.signal,
      sleep: (ms) => {
        if (ms > 100) stop.abort();
        return new Promise(() => {});
      },
    });
    expect(await failure(pausing)).toBe('stopped');

    const second = new AbortController();
    source.meddle = () => {
      second.abort();
      return new Promise(() => {});
    };
    expect(await failure(client({ signal: second.signal }))).toBe('stopped');
  });
});

describe('distrust', () => {
  const refusals: [string, () => unknown, string | RegExp][] = [
    [
      'credentials that are not taken',
      () => ({ rc: 0, msg: 'Auth error' }),
      'the source rejects these credentials (Auth error)',
    ],
    [
      'a subscription that is over',
      () => ({ rc: 0, msg: 'This feature requires an active subscription' }),
      'the subscription is not active at the source, so it returns no data',
    ],
    [
      'a success without a list',
      () => ({ rc: 1, msg: 'Ok' }),
      `the answer of the source to ${LIST} has no list`,
    ],
    [
      'another address',
      () => status(404),
      `the source answers HTTP 404 to ${LIST}: is it the base URL of the API?`,
    ],
    [
      'a proxy that refuses everyone',
      () => status(403),
      `the source answers HTTP 403 to ${LIST}: is it the base URL of the API?`,
    ],
    ...[401, 403].map((code): [string, () => unknown, string] => [
      `credentials that are not taken, as ${code}`,
      () => Response.json({ rc: 0, msg: 'Invalid key' }, { status: code }),
      `the source rejects these credentials (HTTP ${code}, Invalid key)`,
    ]),
    [
      'a subscription that is over, as 403',
      () => {
        const msg = 'This feature requires an active subscription';
        return Response.json({ rc: 0, msg }, { status: 403 });
      },
      'the subscription is not active at the source, so it returns no data',
    ],
    [
      'ten million brackets',
      () => new Response('['.repeat(10_000_000)),
      `what the source answers to ${LIST} must not nest deeper than 32 levels`,
    ],
    [
      'a list of millions of nothing',
      () => new Response(`{"rc":1,"data":[${'0,'.repeat(5_000_000)}0]}`),
      `what the source answers to ${LIST} must not hold more than 200000 values`,
    ],
    [
      'an answer without end',
      () => new Response('x'.repeat(25 * 1024 ** 2)),
      'the source sends more than 25165824 bytes for one list',
    ],
  ];
  test.each(refusals)('%s ends it at once', async (_, answer, sentence) => {
    first(answer);
    expect(await failure(client())).toMatch(sentence);
    expect(source.calls).toHaveLength(1);
  });

  test('an answer about one link is bounded closer than a list: several are asked for at once', async () => {
    const data = 'x'.repeat(2 * 1024 ** 2);
    source.meddle = () => new Response(data);
    const of = client();
    for (const query of [{ id: 1 }, { install_code: 'Code00000001' }]) {
      const failed = await of.list('/api/list-hwid', query).catch(String);
      expect(failed).toContain('the source sends more than 1048576 bytes for one list');
    }
  });

  test('a redirect is named but not followed: the key stays here', async () => {
    const other = new FakeSource();
    first(() => status(307, { location: `${other.url}/x?auth_key=${source.credentials.authKey}` }));
    expect(await failure(client())).toBe(
      `the source answers HTTP 307 and points to ${other.url}: if that is the right server, give its URL`,
    );
    expect(other.calls).toEqual([]);
    await other.stop();
  });

  test('what it says is made fit for a terminal, and never holds the key', async () => {
    const { authKey } = source.credentials;
    first(() => ({ rc: 0, msg: `\x1b[2Jno ${authKey}\n${'x'.repeat(500)}` }));
    const answer = await client().list(LIST, {});
    expect(answer).toEqual({ refusal: ` [2Jno *** ${'x'.repeat(189)}` });
  });
});
