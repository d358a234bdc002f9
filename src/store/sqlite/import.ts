/** Records that move in. Each link is one step together with its HWIDs: it is here or it is not. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { mergeFacts } from '../../core/device.ts';
import { merge, mergeInstall } from '../../core/moving/merge.ts';
import type { Act } from '../../core/port/audit.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { Install, InstallTerms } from '../../core/port/install.ts';
import type { ImportedInstall } from '../../core/port/moving.ts';
import type { Store } from '../../core/port/store.ts';
import { NO_TERMS } from '../../core/slot.ts';
import type { Backend } from '../backend.ts';
import { bindingStatements } from '../noun/domain.ts';
import { runNow } from './backend.ts';
import type { Context } from './context.ts';
import { rowStatements, SET_LINK, TERMS_COLUMNS } from './install-rows.ts';
import { deviceKeeper } from './known-device.ts';
import { lookups } from './lookups.ts';
import { value } from './statement.ts';

type ImportStore = Pick<Store, 'reserveIds' | 'importInstall' | 'importDomain'>;

type KnownInstall = Pick<Install, 'id' | 'installLimit' | 'deviceCount' | 'status' | 'note'> &
  InstallTerms & { providerId: number };

function statements({ db }: Context) {
  const taken = (table: string) =>
    db.prepare<{ id: number }>(sql`SELECT id FROM ${sql.raw(table)} WHERE id = ${value('id')}`);
  return {
    find: db.prepare<KnownInstall>(sql`
        SELECT id, provider_id AS "providerId", install_limit AS "installLimit",
          device_count AS "deviceCount", status, note, ${TERMS_COLUMNS}
        FROM install WHERE install_code = ${value('installCode')}`),
    replaced: db.prepare(sql`
        UPDATE install SET replaced_at_ms = ${value('replacedAtMs')} WHERE id = ${value('id')}`),
    idIsTaken: taken('install'),
    domainIdIsTaken: taken('domain'),
    change: db.prepare(sql`
        UPDATE install SET ${SET_LINK} WHERE id = ${value('id')}`),
  };
}

/** The other way round than when a device calls: its facts here are later than any import. */
const knownWins = (known: DeviceAtProvider, moved: DeviceFacts) => mergeFacts(moved, known);

/** SQLite keeps the highest id that it gave in a table of its own, once there was one. */
function sequenceStatements({ db }: Context) {
  const table = value('table');
  return {
    begin: db.prepare(sql`
        INSERT INTO sqlite_sequence (name, seq)
        SELECT ${table}, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${table})`),
    raise: db.prepare(
      sql`UPDATE sqlite_sequence SET seq = max(seq, ${value('id')}) WHERE name = ${table}`,
    ),
  };
}

export function importStore(context: Context, backend: Backend): ImportStore {
  const { writer, audit } = context;
  const on = { ...statements(context), ...rowStatements(context) };
  const keep = deviceKeeper(context);
  const domains = bindingStatements(backend);
  const sequence = sequenceStatements(context);
  const find = lookups(context);

  /** Terms that are wanted here; with the key that it has if another link has the wanted one. */
  function termsHere(
    wanted: InstallTerms | undefined,
    known: Pick<KnownInstall, 'subscriptionKeyHash' | 'providerId'> & { id: number | null },
  ): InstallTerms | undefined {
    if (wanted === undefined) return wanted;
    const { id, providerId, subscriptionKeyHash } = known;
    const isFree = on.otherWithKey.get({ ...wanted, providerId, id }) === null;
    return isFree ? wanted : { ...wanted, subscriptionKeyHash };
  }

  function addSlots(
    { installId, providerId }: { installId: number; providerId: number },
    slots: ImportedInstall['slots'],
    room: number,
    nowMs: number,
  ) {
    const counts = { slotsAdded: 0, slotsPresent: 0, slotsWithoutRoom: 0 };
    for (const slot of slots) {
      const { hwid, registeredAtMs, firstSeenAtMs, lastSeenAtMs, slotSeenAtMs, ...facts } = slot;
      const known = find.deviceId.get({ hwid });
      if (known !== null && on.holdsSlot.get({ installId, deviceId: known.id }) !== null) {
        counts.slotsPresent += 1;
      } else if (counts.slotsAdded >= room) {
        counts.slotsWithoutRoom += 1;
      } else {
        const deviceId = keep.seeElsewhere(hwid, firstSeenAtMs, lastSeenAtMs);
        const seenHereMs = find.atProvider.get({ deviceId, providerId })?.lastSeenAtMs ?? 0;
        const newestMs = Math.max(seenHereMs, lastSeenAtMs);
        keep.keepFacts(deviceId, providerId, facts, newestMs, knownWins);
        const times = { registeredAtMs, lastSeenAtMs: slotSeenAtMs ?? nowMs };
        on.takeSlot.run({ installId, deviceId, providerId, ...times });
        counts.slotsAdded += 1;
      }
    }
    return counts;
  }

  function update(
    known: KnownInstall,
    { slots, installLimit, status, note, terms }: ImportedInstall,
    updates: boolean,
    act: Act,
  ) {
    const { id, deviceCount, providerId } = known;
    const wanted = { installLimit, status, note, ...termsHere(terms, known) };
    const { was, after } = mergeInstall(known, wanted, updates);
    if (was === 'updated') on.change.run({ ...after });
    const room = after.installLimit - deviceCount;
    const counts = addSlots({ installId: id, providerId }, slots, room, act.atMs);
    audit.note(act, deeds.importInstall(known, after, counts.slotsAdded), providerId);
    return { was, id, ...counts };
  }

  return {
    reserveIds: ({ installId, domainId }) =>
      writer.run(() => {
        for (const [table, id] of [
          ['install', installId],
          ['domain', domainId],
        ] as const) {
          sequence.begin.run({ table });
          sequence.raise.run({ table, id });
        }
      }),

    importInstall: (providerId, wanted, { installCountMax, updates }, act) =>
      writer.run(() => {
        const { slots, id, terms, replacedAtMs, ...facts } = wanted;
        const known = on.find.get({ installCode: facts.installCode });
        if (known !== null) {
          if (known.providerId !== providerId) return 'install_code_exists';
          return update(known, wanted, updates, act);
        }
        const owner = on.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (owner.installCount >= installCountMax) return 'install_code_limit_reached';
        const free = id === null || on.idIsTaken.get({ id }) !== null ? null : id;
        const none = { ...NO_TERMS, providerId, id: null };
        const added = { ...none, ...facts, ...termsHere(terms, none) };
        const installId = on.add.insert({ ...added, id: free });
        if (replacedAtMs !== undefined) on.replaced.run({ id: installId, replacedAtMs });
        const of = { installId, providerId };
        const counts = addSlots(of, slots, facts.installLimit, act.atMs);
        const deed = deeds.importInstall(null, { ...added, id: installId }, counts.slotsAdded);
        audit.note(act, deed, providerId);
        return { was: 'added', id: installId, ...counts };
      }),

    importDomain: (providerId, wanted, { domainCountMax, updates }, act) =>
      writer.run(() => {
        const { id, ...facts } = wanted;
        const { domainHash, domainName, status } = facts;
        const known = runNow(domains.findByHash.get({ providerId, domainHash }));
        if (known !== null) {
          const { was, after } = merge(known, { domainName, status }, updates);
          if (was === 'updated') runNow(domains.change.run({ id: known.id, domainName, status }));
          audit.note(act, deeds.importDomain(known, after), providerId);
          return { was, id: known.id };
        }
        const owner = runNow(domains.countOf.get({ providerId }));
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const free = id === null || on.domainIdIsTaken.get({ id }) !== null ? null : id;
        const added = { id: runNow(domains.add.insert({ ...facts, providerId, id: free })) };
        audit.note(act, deeds.importDomain(null, { ...facts, ...added }), providerId);
        return { was: 'added', id: added.id };
      }),
  };
}
