/** Devices that are reached through gateways, written straight into the database, many at once. */

import type { Beside } from './beside.ts';
import { bindDevices, makeDevices } from './delivery.ts';

/** The token of device `n` at FCM or APNs, of the length that real ones have. */
export function pushToken(gateway: 'fcm' | 'apns', n: number): string {
  if (gateway === 'apns') return n.toString(16).padStart(64, '0');
  return `${String(n).padStart(8, '0')}:APA91b${'x'.repeat(130)}`;
}

/** Adds devices of a provider that registered with an address at a gateway; returns their ids. */
export function addPushDevices(
  db: Beside,
  provider: { id: number },
  gateway: 'fcm' | 'apns',
  count: number,
  locale: string | null = null,
): number[] {
  const hwids = Array.from({ length: count }, (_, n) => `${gateway}-${provider.id}-${n}`);
  const devices = makeDevices({ db }, hwids, gateway === 'fcm' ? 'android' : 'ios');
  bindDevices({ db }, provider, devices);
  const addToken = db.prepare<{ id: number }, [number, Uint8Array, string | null, string]>(
    `INSERT INTO device_token (device_id, token_hash, locale, push, stands_alone)
     VALUES (?, ?, ?, ?, 0) RETURNING id`,
  );
  const hold = db.prepare(
    'UPDATE device_provider SET token_id = ? WHERE device_id = ? AND provider_id = ?',
  );
  db.transaction(() => {
    for (const [n, deviceId] of devices.entries()) {
      const hash = new Bun.CryptoHasher('sha256').update(`${gateway}-${deviceId}`).digest();
      const push = JSON.stringify({ gateway, token: pushToken(gateway, n) });
      const token = addToken.get(deviceId, hash, locale, push);
      hold.run(token?.id ?? 0, deviceId, provider.id);
    }
  })();
  addToken.finalize();
  hold.finalize();
  return devices;
}
