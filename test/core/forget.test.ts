/** Forgetting a HWID erases its refusals too, also where no device ever had it. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ACT } from '../support/actor.ts';
import { auditEntries } from '../support/audit.ts';
import {
  type Engine,
  makeDevices,
  makeProvider,
  openEngine,
  putOnLinks,
} from '../support/delivery.ts';

let engine: Engine;
let links: number[];
beforeEach(async () => {
  engine = await openEngine();
  const ids = makeDevices(engine, ['phone', 'tablet']);
  links = putOnLinks(engine, await makeProvider(engine), ids, 1);
});
afterEach(() => engine.close());

/** Notes that each link has refused a HWID. */
function refuse(hwid: string): void {
  for (const link of links) {
    engine.db.run(
      `INSERT INTO refused_device (install_id, hwid, device_name, os, reason, refused_count,
         first_refused_at_ms, last_refused_at_ms)
       VALUES (?, ?, 'Pixel 9', 'android', 'link_limit_reached', 1, 1, 1)`,
      [link, hwid],
    );
  }
}

const refused = () =>
  engine.db
    .query<{ hwid: string }, []>('SELECT DISTINCT hwid FROM refused_device ORDER BY hwid')
    .all()
    .map(({ hwid }) => hwid);

const forgettings = async () =>
  (await auditEntries(engine.core)).filter(({ action }) => action === 'device.forget');

test('a device with its refusals at every link; those of others stay', async () => {
  for (const hwid of ['phone', 'phone-2', '']) refuse(hwid);
  expect(await engine.core.store.forgetDevice('phone', ACT)).toBe('ok');
  expect(refused()).toEqual(['', 'phone-2']);
  expect(await engine.core.store.findDevice('phone')).toBeNull();
  expect(await forgettings()).toHaveLength(1);
});

test('a HWID that was refused alone; the audit log has its hash once', async () => {
  refuse('stranger');
  expect(await engine.core.store.countRefusals('stranger')).toBe(2);
  expect(await engine.core.store.forgetDevice('stranger', ACT)).toBe('ok');
  expect(refused()).toEqual([]);
  const found = await forgettings();
  expect(found).toHaveLength(1);
  expect(JSON.stringify(found)).not.toContain('stranger');
  expect(await engine.core.store.forgetDevice('stranger', ACT)).toBe('device_not_found');
  expect(await forgettings()).toHaveLength(1);
});
