/** A search through the devices of a provider, in slices that take some milliseconds each. */

import type { MixCursor } from '../../core/port/device-mix.ts';
import type { DeviceSearchStore } from '../../core/port/device-search.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { deviceMatches, searchValues } from './device-match.ts';
import { linkedRow } from './targets.ts';

/** Devices of a slice: each has up to 16 bindings and a few links to read. */
const SLICE_COUNT = 1_000;

export function deviceSearchNoun(backend: Backend): DeviceSearchStore {
  const { prepare, join } = backend;
  const beyond = sql`provider_id = :providerId AND (os, device_id) > (:os, :deviceId)`;
  const on = {
    end: prepare(sql`
        SELECT ${values<{ os: MixCursor['os'] }>({ os: sql`os` })},
          ${columns('device_provider', 'deviceId')}
        FROM device_provider WHERE ${beyond}
        ORDER BY os, device_id LIMIT 1 OFFSET ${SLICE_COUNT - 1}`),
    found: prepare(sql`
        SELECT ${columns(
          { d: 'device', p: 'device_provider', t: 'device_token?' },
          'd.hwid, p.deviceName, p.os, p.appVersion, t.locale',
        )}
        FROM (SELECT * FROM device_provider WHERE ${beyond}
            ORDER BY os, device_id LIMIT ${SLICE_COUNT}) p
          ${join} device d ON d.id = p.device_id LEFT JOIN device_token t ON t.id = p.token_id
        WHERE ${deviceMatches(backend)} AND ${linkedRow(backend)}
        ORDER BY p.os, p.device_id`),
  };
  return {
    searchDevices: async (providerId, search, after) =>
      backend.read(function* () {
        const from = { providerId, ...(after ?? { os: '', deviceId: 0 }) };
        const next = yield* on.end.get(from);
        const wanted = { ...from, ...searchValues(backend, search) };
        return { devices: yield* on.found.all(wanted), next };
      }),
  };
}
