/** The devices of a provider by system and app; a job counts them. */

import type { DeviceMixStore } from '../../core/port/device-mix.ts';
import type { Backend } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';

export function deviceMixNoun(backend: Backend): DeviceMixStore {
  const ofProvider = sql`provider_id = :providerId`;
  const on = {
    devices: backend.prepare(sql`
        SELECT ${columns('device_provider', 'os, deviceId, userAgent')} FROM device_provider
        WHERE ${ofProvider} AND (os, device_id) > (:os, :deviceId)
        ORDER BY os, device_id LIMIT :countMax`),
    clear: backend.prepare(sql`
        DELETE FROM device_mix WHERE ${ofProvider}`),
    add: backend.prepare(sql`${insertInto('device_mix', 'providerId, day, os, app, count')}`),
    read: backend.prepare(sql`
        SELECT ${columns('device_mix', 'day, os, app, count')} FROM device_mix WHERE ${ofProvider}
        ORDER BY count DESC, os, app`),
  };
  return {
    listMixDevices: async (providerId, after, countMax) => {
      const { os, deviceId } = after ?? { os: '', deviceId: 0 };
      return backend.read(() => on.devices.all({ providerId, os, deviceId, countMax }));
    },
    saveDeviceMix: (providerId, { counts, day }) =>
      backend.write(function* () {
        yield* backend.lockProvider(providerId);
        yield* on.clear.run({ providerId });
        for (const { os, app, count } of counts) {
          yield* on.add.run({ providerId, day, os, app, count });
        }
      }),
    readDeviceMix: async (providerId) => {
      const rows = await backend.read(() => on.read.all({ providerId }));
      const [first] = rows;
      if (first === undefined) return null;
      return { day: first.day, counts: rows.map(({ os, app, count }) => ({ os, app, count })) };
    },
  };
}
