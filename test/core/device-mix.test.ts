import { afterEach, beforeEach, expect, test } from 'bun:test';
import { countMixes, readMix } from '../../src/core/device-mix.ts';
import { type Engine, makeProvider, openEngine, seedDevices } from '../support/delivery.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const read = (id: number) => readMix(engine.core, id, engine.clock.nowMs());
const count = () => countMixes(engine.core, engine.clock.nowMs(), new AbortController().signal);

test('few devices are counted as they are asked for', async () => {
  const { provider } = await seedDevices(engine, 30);
  expect((await read(provider.id))?.counts).toEqual([{ os: 'android', app: '', count: 30 }]);
  await count();
  expect((await read(provider.id))?.counts).toEqual([{ os: 'android', app: '', count: 30 }]);
});

test('many are counted once a day', async () => {
  const { provider } = await seedDevices(engine, 4_100);
  const empty = await makeProvider(engine);
  expect(await read(provider.id)).toBeNull();
  await count();
  expect((await read(provider.id))?.counts).toEqual([{ os: 'android', app: '', count: 4_100 }]);
  expect((await read(empty.id))?.counts).toEqual([]);
  engine.db.run(`UPDATE device_provider SET user_agent = 'Happ/3.1', os = 'ios'`);
  await count();
  expect((await read(provider.id))?.counts[0]).toMatchObject({ os: 'android' });
  // One that has many since is counted, although those before it are.
  const { provider: later } = await seedDevices(engine, 4_100);
  await count();
  expect((await read(later.id))?.counts).toHaveLength(1);
  engine.clock.advance(86_400_000);
  await count();
  expect((await read(provider.id))?.counts).toEqual([{ os: 'ios', app: 'Happ', count: 4_100 }]);
});

test('a device that tells any system does not make any number of rows', async () => {
  const { provider } = await seedDevices(engine, 200);
  engine.db.run(`UPDATE device_provider SET os = 'os-' || device_id`);
  const counts = (await read(provider.id))?.counts ?? [];
  expect(counts.length).toBeLessThanOrEqual(61);
  expect(counts.reduce((sum, one) => sum + one.count, 0)).toBe(200);
});
