/** Finds, adds and renews tokens of devices. */

import type { PushAddress } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Statements } from '../backend.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import { ACTIVE_BINDING } from '../status.ts';
import { allSeen, lookUpStatements } from './look-ups.ts';
import { parsed } from './rows.ts';
import { shared } from './shared.ts';

/** Returns the statements by which a registration adds or renews a token. */
export const tokenStatements = shared(({ prepare, returningId }: Statements) => {
  return {
    /** Finds the device's token with this hash. */
    held: prepare(sql`
        SELECT ${columns('device_token', 'id')}
        FROM device_token WHERE token_hash = :tokenHash AND device_id = :deviceId`),
    /** Finds the token that reads the device's unattached inbox. */
    unattached: prepare(sql`
        SELECT ${columns('device_token', 'id')} FROM device_token
        WHERE device_id = :deviceId AND nobody_after_distribution_id IS NOT NULL`),
    add: prepare(sql`
        ${insertInto(
          'device_token',
          `deviceId, tokenHash, locale, push, pushAtMs = :nowMs, standsAlone = 0,
            lastSeenAtMs = :nowMs`,
        )} ${returningId}`),
    /** Replaces the secret; the token keeps its id and so its inboxes. */
    renew: prepare(sql`
        UPDATE device_token SET ${assignments('device_token', 'tokenHash, locale, push')},
          push_at_ms = :nowMs,
          push_dropped_at_ms = NULL, push_dropped_why = NULL, last_seen_at_ms = :nowMs
        WHERE id = :id`),
    /** Lets a token read later unattached messages, unless another token reads that inbox. */
    takeUnattached: prepare(sql`
        UPDATE device_token AS t SET stands_alone = :standsAlone,
          nobody_after_distribution_id = (SELECT coalesce(max(id), 0) FROM distribution),
          nobody_after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
        WHERE t.id = :id AND NOT EXISTS (
          SELECT 1 FROM device_token o WHERE o.device_id = t.device_id
            AND o.nobody_after_distribution_id IS NOT NULL)`),
  };
});

interface TokenRow {
  id: number;
  hwid: string;
  tokenId: number;
  lastSeenAtMs: number;
  providerId: number | null;
  hasStream: number;
}

export function tokenNoun(
  backend: Backend,
): Pick<
  Store,
  'findDeviceByToken' | 'findShownLink' | 'isDiscoveredAt' | 'listPushAddresses' | 'noteStream'
> {
  const { prepare, least, join } = backend;
  const { deviceId: findDevice } = lookUpStatements(backend);
  const deviceSeen = sql.raw('d.last_seen_at_ms');
  const inboxesSeen = sql`coalesce(
    (SELECT min(${allSeen(backend)}) FROM device_provider p WHERE p.token_id = t.id),
    ${deviceSeen})`;
  // Returns the earliest of the times: on a later UTC day the caller writes all of them.
  const find = prepare(sql`
      SELECT ${columns({ t: 'device_token', d: 'device' }, 'd.id, d.hwid, t.id AS tokenId, t.hasStream, t.ended')},
        ${values<{ lastSeenAtMs: TokenRow['lastSeenAtMs']; providerId: TokenRow['providerId'] }>({
          lastSeenAtMs: sql`${least(least(deviceSeen, sql.raw('t.last_seen_at_ms')), inboxesSeen)}`,
          providerId: sql`(
            SELECT min(p.provider_id) FROM device_provider p WHERE p.token_id = t.id)`,
        })}
      FROM device_token t ${join} device d ON d.id = t.device_id WHERE t.token_hash = :tokenHash`);
  const discovered = prepare(sql`
      SELECT ${columns({ o: 'provider' }, 'o.id')} FROM device_token t
        ${join} device_provider p ON p.device_id = t.device_id AND p.token_id = t.id
        ${join} domain b ON b.provider_id = p.provider_id AND b.domain_hash = :domainHash
          AND b.status = ${ACTIVE_BINDING}
        ${join} provider o ON o.id = p.provider_id AND o.discovery = 1
      WHERE t.token_hash = :tokenHash LIMIT 1`);
  /**
   * A token that ended is refused with its reason at the hosts of its last place: at those of
   * others it would show that one server has them all.
   */
  const ended = prepare(sql`
      SELECT ${columns({ o: 'provider' }, 'o.id')} FROM ended_token e
        ${join} domain b ON b.provider_id = e.provider_id AND b.domain_hash = :domainHash
          AND b.status = ${ACTIVE_BINDING}
        ${join} provider o ON o.id = b.provider_id AND o.discovery = 1
      WHERE e.token_hash = :tokenHash LIMIT 1`);
  const addresses = prepare(sql`
      SELECT ${columns('device_token', 'push!, locale')} FROM device_token
      WHERE device_id = :deviceId AND push IS NOT NULL ORDER BY id`);

  const shownLink = prepare(sql`
      SELECT ${columns({ s: 'install_device' }, 's.installId')} FROM device_provider p
        ${join} install_device s
          ON s.install_id = p.claim_install_id AND s.device_id = p.device_id
      WHERE p.token_id = :tokenId ORDER BY s.install_id LIMIT 1`);

  const stream = prepare(sql`UPDATE device_token SET has_stream = 1 WHERE id = :tokenId`);

  return {
    noteStream: async (tokenId) => void (await backend.change(() => stream.run({ tokenId }))),

    findDeviceByToken: async (tokenHash) => backend.read(() => find.get({ tokenHash })),

    isDiscoveredAt: (tokenHash, domainHash) =>
      backend.read(function* () {
        const key = { tokenHash, domainHash };
        return ((yield* discovered.get(key)) ?? (yield* ended.get(key))) !== null;
      }),

    findShownLink: (tokenId) =>
      backend.read(function* () {
        return (yield* shownLink.get({ tokenId }))?.installId ?? null;
      }),

    listPushAddresses: async (hwid) =>
      backend.read(function* () {
        const known = yield* findDevice.get({ hwid });
        if (known === null) return null;
        const found = yield* addresses.all({ deviceId: known.id });
        return found.map(parsed<'push', PushAddress>('push'));
      }),
  };
}
