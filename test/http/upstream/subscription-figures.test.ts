/** The figures of subscriptions, as the proxy reads them in the answers of a panel. */

import { afterEach, describe, expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { withMethods } from '../../../src/core/port/store.ts';
import { call } from '../../support/app.ts';
import { answer, PANEL_HEADERS, type PanelCall, SUBSCRIPTION } from '../../support/panel.ts';
import { until } from '../../support/until.ts';
import { exchange, type Fronted, KEY, startFronted } from '../../support/upstream.ts';

const PATH = `/sub/${KEY}`;
const GB = 1024 ** 3;
const HOUR_MS = 3_600_000;
const END_S = 1_800_000_000;

let fronted: Fronted | null = null;
afterEach(async () => {
  await fronted?.stop();
  fronted = null;
});

/** A panel that says what a test chooses, and the store's calls about figures. */
async function front(isOn = true) {
  const said = {
    status: 200,
    userinfo: `upload=0; download=${GB}; total=${10 * GB}; expire=${END_S}`,
  };
  const calls: string[] = [];
  const behave = ({ send }: PanelCall) => {
    const headers = { ...PANEL_HEADERS, 'subscription-userinfo': said.userinfo };
    return send(answer(said.status, said.status === 200 ? SUBSCRIPTION : '', headers));
  };
  const counting =
    <Given extends unknown[], T>(name: string, method: (...given: Given) => T) =>
    (...given: Given): T => {
      calls.push(name);
      return method(...given);
    };
  const watched = ({ findSubscriptionFigures, keepSubscriptionFigures }: Store) => ({
    findSubscriptionFigures: counting('find', findSubscriptionFigures),
    keepSubscriptionFigures: counting('keep', keepSubscriptionFigures),
  });
  let plain: Store | null = null;
  const at = await startFronted(behave, { defaultLimit: 1 }, {}, (core) => {
    const store = withMethods(core.store, {});
    plain = store;
    return { ...core, store: withMethods(store, watched(store)) };
  });
  fronted = at;
  if (isOn) await call(at.app, '/api/policy', at.own, { subscription_figures: '1' });
  /** Returns what is kept of the one link, after what was begun. */
  const kept = () => plain?.findSubscriptionFigures(1) ?? null;
  return { ...at, said, calls, kept };
}

type At = Awaited<ReturnType<typeof front>>;

const keeps = ({ calls }: At) => calls.filter((name) => name === 'keep').length;

/** Fetches, and waits until what it noted is kept. */
async function fetched(at: At, hwid: string | null = 'phone', count = 1): Promise<number> {
  const before = keeps(at);
  const got = await at.get(PATH, hwid);
  await until('the figures are kept', () => keeps(at) === before + count);
  return got.status;
}

describe('what an app got is kept', () => {
  test('end, total and traffic', async () => {
    const at = await front();
    expect(await fetched(at)).toBe(200);
    const found = await until('they are kept', () => at.kept());
    expect(found).toMatchObject({
      endsAtMs: END_S * 1_000,
      totalBytes: 10 * GB,
      usedBytes: GB,
      readAtMs: at.app.clock.nowMs(),
      source: 'proxy',
    });
  });

  test('a thousand fetches of an hour write once, and read once', async () => {
    const at = await front();
    await fetched(at);
    at.calls.length = 0;
    const nowMs = at.app.clock.nowMs();
    // Not over the end of a day.
    const stepMs = Math.floor(Math.min(HOUR_MS, 86_400_000 - (nowMs % 86_400_000) - 1) / 1_000);
    for (let turn = 0; turn < 1_000; turn += 1) {
      at.said.userinfo = `upload=0; download=${GB + turn}; total=${10 * GB}; expire=${END_S}`;
      at.app.clock.advance(stepMs);
      await at.get(PATH, 'phone');
    }
    expect(at.calls).toEqual([]);
  });

  test('what moved is kept at a later fetch', async () => {
    const at = await front();
    await fetched(at);
    await until('they are kept', () => at.kept());
    at.said.userinfo = `total=${20 * GB}; download=${19 * GB}`;
    at.app.clock.advance(HOUR_MS);
    await fetched(at);
    expect(
      await until('they moved', async () => (await at.kept())?.totalBytes === 20 * GB && at.kept()),
    ).toMatchObject({ endsAtMs: null, usedBytes: 19 * GB });
  });
});

describe('nothing is kept', () => {
  /** Fetches in each way; returns what the store was asked about figures. */
  const quiet = async (at: At, ...fetches: (() => Promise<unknown>)[]) => {
    for (const fetch of fetches) await fetch();
    return [at.calls, await at.kept()];
  };

  test('for a provider that did not switch it on', async () => {
    const at = await front(false);
    expect(await quiet(at, () => at.get(PATH, 'phone'))).toEqual([[], null]);
  });

  test('of answers to devices that were not admitted, and of refusals of the panel', async () => {
    const at = await front();
    await fetched(at);
    at.calls.length = 0;
    at.said.userinfo = 'total=5';
    at.app.clock.advance(HOUR_MS);
    await at.get(PATH, 'second-phone');
    await at.get(PATH, null);
    at.said.status = 404;
    await at.get(PATH, 'phone');
    expect(at.calls).toEqual([]);
  });

  test('after it was switched off, and what was kept goes', async () => {
    const at = await front();
    await fetched(at);
    await call(at.app, '/api/policy', at.own, { subscription_figures: '0' });
    at.app.clock.advance(HOUR_MS);
    await at.get(PATH, 'phone');
    expect(await at.app.core.store.forgetSubscriptionFigures(0)).toBe(true);
    expect(await at.kept()).toBeNull();
  });
});

test('a header of any size and sign harms no fetch', async () => {
  const at = await front();
  for (const userinfo of [
    '',
    ';;;===',
    'x'.repeat(8_000),
    'expire=9'.repeat(900),
    '\u00fftotal=1',
  ]) {
    at.said.userinfo = userinfo;
    const port = Number(new URL(at.app.url).port);
    expect((await exchange(port, 'GET', PATH, { 'x-hwid': 'phone' })).status).toBe(200);
  }
});
