/** Which devices are a provider's at the moment of delivery. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { SEARCHED_HWIDS_MAX } from '../../../src/core/device-search.ts';
import {
  bindDevices,
  deliver,
  deliverUntil,
  type Engine,
  HOUR_MS,
  inboxOf,
  ledgerOf,
  makeDevices,
  makeProvider,
  notify,
  openEngine,
  putOnLinks,
  seedDevices,
} from '../../support/delivery.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const seed = (count: number) => seedDevices(engine, count);

describe('who gets it', () => {
  test('devices on links and bindings, each once; not those of a disabled binding', async () => {
    const provider = await makeProvider(engine);
    const stranger = await makeProvider(engine);
    const devices = makeDevices(engine, ['link', 'two-links', 'binding', 'both', 'off', 'foreign']);
    const [link = 0, twoLinks = 0, binding = 0, both = 0, off = 0, foreign = 0] = devices;
    putOnLinks(engine, provider, [link, twoLinks, both]);
    putOnLinks(engine, provider, [twoLinks]);
    bindDevices(engine, provider, [binding, both]);
    const disabled = bindDevices(engine, provider, [off, both]);
    engine.db.run('UPDATE domain SET status = 5 WHERE id = ?', [disabled]);
    bindDevices(engine, stranger, [foreign, link]);

    const id = await notify(engine, provider);
    await deliver(engine);
    expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, recipientCount: 4, sent: 4 });
    const got = [];
    for (const device of devices) got.push(await inboxOf(engine, device));
    expect(got).toEqual([[id], [id], [id], [id], [], []]);
  });

  test('a disabled link still counts: its devices are the provider\u2019s', async () => {
    const { provider, first } = await seed(1);
    engine.db.run('UPDATE install SET status = 5');
    const id = await notify(engine, provider);
    await deliver(engine);
    expect(await inboxOf(engine, first)).toEqual([id]);
  });

  test('as many HWIDs as a filter may find, also after a crash, beside a small one', async () => {
    const provider = await makeProvider(engine);
    const hwids = Array.from({ length: SEARCHED_HWIDS_MAX }, (_, n) => `filtered-${n}`);
    const devices = makeDevices(engine, hwids);
    putOnLinks(engine, provider, devices, 100);
    const many = await notify(engine, provider, { targets: { hwids } });
    const [first = ''] = hwids;
    const one = await notify(engine, provider, { targets: { hwids: [first] } });
    await deliverUntil(engine, many, 5, 'lost');
    engine.clock.advance(HOUR_MS);
    await deliver(engine);
    const counts = { recipientCount: SEARCHED_HWIDS_MAX, sent: SEARCHED_HWIDS_MAX };
    expect(await ledgerOf(engine, many)).toMatchObject({ status: 100, ...counts });
    expect(await ledgerOf(engine, one)).toMatchObject({ status: 100, recipientCount: 1 });
    expect(await inboxOf(engine, devices[0] ?? 0)).toEqual([many, one]);
    expect(await inboxOf(engine, devices.at(-1) ?? 0)).toEqual([many]);
  });

  test('one operating system, or both', async () => {
    const provider = await makeProvider(engine);
    const android = makeDevices(engine, ['a1', 'a2']);
    const ios = makeDevices(engine, ['i1'], 'ios');
    const other = makeDevices(engine, ['w1'], 'windows');
    putOnLinks(engine, provider, [...android, ...ios, ...other]);
    const onlyIos = await notify(engine, provider, { targets: { os: ['ios'] } });
    const both = await notify(engine, provider, { targets: { os: ['ios', 'android'] } });
    const named = await notify(engine, provider, { targets: { hwids: ['w1'] } });
    await deliver(engine);
    expect(await inboxOf(engine, ios[0] ?? 0)).toEqual([onlyIos, both]);
    expect(await inboxOf(engine, android[1] ?? 0)).toEqual([both]);
    expect(await inboxOf(engine, other[0] ?? 0)).toEqual([named]);
    const listed = await engine.core.store.listDistributions(provider.id, {
      id: null,
      beforeId: null,
      countMax: 10,
    });
    const shown = listed.map(({ targetOs, targetHwid }) => [targetOs, targetHwid]);
    expect(shown).toEqual([
      [null, 'w1'],
      ['ios,android', ''],
      ['ios', ''],
    ]);
  });

  test('many links without devices are passed over', async () => {
    const provider = await makeProvider(engine);
    engine.db.run(
      `INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
       SELECT ${provider.id}, 'Empty' || (1000000 + i), 1, 10, 0 FROM n`,
    );
    const [last = 0] = makeDevices(engine, ['last']);
    putOnLinks(engine, provider, [last]);
    const id = await notify(engine, provider);
    await deliver(engine);
    expect(await inboxOf(engine, last)).toEqual([id]);
  });
});
