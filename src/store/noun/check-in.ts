/** Calls of devices without a link. */

import type { CheckInKey } from '../../core/port/device.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Step } from '../backend.ts';
import { sql, values } from '../statement-text.ts';
import { knownDeviceSteps } from './known-device.ts';
import { allSeen, lookUpStatements } from './look-ups.ts';
import { linkedRow } from './targets.ts';

export function checkInNoun(backend: Backend): Pick<Store, 'findCheckIn' | 'recordCheckIn'> {
  const find = lookUpStatements(backend);
  const known = knownDeviceSteps(backend);
  const standing = backend.prepare(sql`
      SELECT ${values<{ seenAtMs: number; isLinked: number }>({
        seenAtMs: allSeen(backend),
        isLinked: sql`CAST(${linkedRow(backend)} AS integer)`,
      })}
      FROM device_provider p WHERE p.device_id = :deviceId AND p.provider_id = :providerId`);

  function* findIds({ providerCode, domainHash }: CheckInKey): Step<{
    providerId: number;
    domainId: number | null;
  } | null> {
    const provider = yield* find.provider.get({ providerCode });
    if (provider === null) return null;
    const providerId = provider.id;
    if (domainHash === null) return { providerId, domainId: null };
    const bound = yield* find.activeDomain.get({ providerId, domainHash });
    return { providerId, domainId: bound?.id ?? null };
  }

  return {
    findCheckIn: (key) =>
      backend.read(function* () {
        const ids = yield* findIds(key);
        if (ids === null) return 'provider_not_found';
        const { providerId, domainId } = ids;
        const isBound = domainId !== null;
        const deviceId = (yield* find.deviceId.get({ hwid: key.hwid }))?.id ?? null;
        if (deviceId === null) return { seenAtMs: null, isLinked: false, isNewLink: isBound };
        const at = yield* standing.get({ deviceId, providerId });
        return {
          seenAtMs: at?.seenAtMs ?? null,
          isLinked: at?.isLinked === 1,
          isNewLink: isBound && !(yield* known.isTied(deviceId, domainId)),
        };
      }),

    recordCheckIn: (key, facts, nowMs) =>
      backend.write(function* (notes) {
        const ids = yield* findIds(key);
        if (ids === null) return 'provider_not_found';
        const { providerId, domainId } = ids;
        const { hwid } = key;
        const knownId = (yield* find.deviceId.get({ hwid }))?.id;
        const who = { hwid, knownId };
        const { deviceId } = yield* known.visit(notes, who, providerId, facts, nowMs);
        yield* known.checkIn(deviceId, providerId, nowMs);
        if (domainId !== null) yield* known.tie(deviceId, providerId, domainId, nowMs);
        return 'ok';
      }),
  };
}
