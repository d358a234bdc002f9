/** Records that move in. Each link is one step together with its HWIDs: it is here or it is not. */

import { eq, sql } from 'drizzle-orm';
import { changesOf } from '../../core/audit/entry.ts';
import { mergeFacts } from '../../core/device.ts';
import { changesOfLink } from '../../core/install.ts';
import type { Act } from '../../core/port/audit.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { ImportedAs, ImportedInstall } from '../../core/port/moving.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { domainCountStatement } from './domain.ts';
import { rowStatements } from './install-rows.ts';
import { deviceKeeper } from './known-device.ts';
import { lookups } from './lookups.ts';
import { raw } from './raw.ts';
import { domain, install } from './schema.ts';
import { named, prepare, value } from './statement.ts';

type ImportStore = Pick<Store, 'reserveIds' | 'importInstall' | 'importDomain'>;

function installStatements({ db, query }: Context) {
  return {
    find: prepare(
      db,
      query
        .select(
          named({
            id: install.id,
            providerId: install.provider_id,
            installLimit: install.install_limit,
            deviceCount: install.device_count,
            status: install.status,
            note: install.note,
          }),
        )
        .from(install)
        .where(eq(install.install_code, value('installCode'))),
    ),
    idIsTaken: prepare(
      db,
      query
        .select({ id: install.id })
        .from(install)
        .where(eq(install.id, value('id'))),
    ),
    change: prepare(
      db,
      query
        .update(install)
        .set({
          install_limit: sql`${value('installLimit')}`,
          status: sql`${value('status')}`,
          note: sql`${value('note')}`,
        })
        .where(eq(install.id, value('id'))),
    ),
  };
}

/** The other way round than when a device calls: what it said here is later than any import. */
const knownWins = (known: DeviceAtProvider, said: DeviceFacts) => mergeFacts(said, known);

function domainStatements({ db, query }: Context) {
  return {
    find: prepare(
      db,
      raw<{ id: number; status: number; domainName: string }>(sql`
        SELECT id, status, domain_name AS "domainName" FROM domain
        WHERE provider_id = ${value('providerId')} AND domain_hash = ${value('domainHash')}`),
    ),
    countOf: domainCountStatement(db),
    idIsTaken: prepare(
      db,
      query
        .select({ id: domain.id })
        .from(domain)
        .where(eq(domain.id, value('id'))),
    ),
    add: prepare(
      db,
      query
        .insert(domain)
        .values({
          id: value('id'),
          provider_id: value('providerId'),
          domain_hash: value('domainHash'),
          domain_name: value('domainName'),
          status: value('status'),
          created_at_ms: value('createdAtMs'),
        })
        .returning({ id: domain.id }),
    ),
    change: prepare(
      db,
      query
        .update(domain)
        .set({ domain_name: sql`${value('domainName')}`, status: sql`${value('status')}` })
        .where(eq(domain.id, value('id'))),
    ),
  };
}

/** SQLite keeps the highest id that it gave in a table of its own, once there was one. */
function sequenceStatements({ db }: Context) {
  const table = value('table');
  return {
    begin: prepare(
      db,
      raw(sql`
        INSERT INTO sqlite_sequence (name, seq)
        SELECT ${table}, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${table})`),
    ),
    raise: prepare(
      db,
      raw(sql`UPDATE sqlite_sequence SET seq = max(seq, ${value('id')}) WHERE name = ${table}`),
    ),
  };
}

export function importStore(context: Context): ImportStore {
  const { writer, audit } = context;
  const on = { ...installStatements(context), ...rowStatements(context) };
  const keep = deviceKeeper(context);
  const domains = domainStatements(context);
  const sequence = sequenceStatements(context);
  const find = lookups(context);

  function addSlots(
    { installId, providerId }: { installId: number; providerId: number },
    slots: ImportedInstall['slots'],
    room: number,
  ) {
    const counts = { slotsAdded: 0, slotsPresent: 0, slotsWithoutRoom: 0 };
    for (const { hwid, registeredAtMs, firstSeenAtMs, lastSeenAtMs, ...said } of slots) {
      const known = find.deviceId.get({ hwid });
      if (known !== null && on.holdsSlot.get({ installId, deviceId: known.id }) !== null) {
        counts.slotsPresent += 1;
      } else if (counts.slotsAdded >= room) {
        counts.slotsWithoutRoom += 1;
      } else {
        const deviceId = keep.seeElsewhere(hwid, firstSeenAtMs, lastSeenAtMs);
        const seenHereMs = find.atProvider.get({ deviceId, providerId })?.lastSeenAtMs ?? 0;
        const newestMs = Math.max(seenHereMs, lastSeenAtMs);
        keep.keepFacts(deviceId, providerId, said, newestMs, knownWins);
        on.takeSlot.run({ installId, deviceId, registeredAtMs });
        counts.slotsAdded += 1;
      }
    }
    return counts;
  }

  type KnownInstall = NonNullable<ReturnType<typeof on.find.get>>;

  function merge(
    known: KnownInstall,
    { slots, ...wanted }: ImportedInstall,
    updates: boolean,
    act: Act,
  ) {
    const { id, deviceCount } = known;
    const installLimit = updates ? Math.max(wanted.installLimit, deviceCount) : known.installLimit;
    const isSame =
      wanted.installLimit === known.installLimit &&
      wanted.status === known.status &&
      wanted.note === known.note;
    if (updates && !isSame) {
      on.change.run({ id, installLimit, status: wanted.status, note: wanted.note });
    }
    const { status, note, providerId } = known;
    const counts = addSlots({ installId: id, providerId }, slots, installLimit - deviceCount);
    const change = changesOfLink(known, updates ? { ...wanted, installLimit } : { status, note });
    if (change !== null || counts.slotsAdded > 0) {
      const object = { id, hwids: counts.slotsAdded };
      const deed = { action: 'install.import', providerId, object } as const;
      audit.note(act, change === null ? deed : { ...deed, change });
    }
    return { was: wasHere(isSame, updates), id, ...counts };
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
        const { slots, id, ...facts } = wanted;
        const known = on.find.get({ installCode: facts.installCode });
        if (known !== null) {
          if (known.providerId !== providerId) return 'install_code_exists';
          return merge(known, wanted, updates, act);
        }
        const owner = on.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (owner.installCount >= installCountMax) return 'install_code_limit_reached';
        const free = id === null || on.idIsTaken.get({ id }) !== null ? null : id;
        const added = on.add.get({ ...facts, providerId, id: free }) as { id: number };
        const counts = addSlots({ installId: added.id, providerId }, slots, facts.installLimit);
        const limit = facts.installLimit;
        const object = { id: added.id, install_limit: limit, hwids: counts.slotsAdded };
        audit.note(act, { action: 'install.import', providerId, object });
        return { was: 'added', id: added.id, ...counts };
      }),

    importDomain: (providerId, wanted, { domainCountMax, updates }, act) =>
      writer.run(() => {
        const { id, ...facts } = wanted;
        const { domainHash, domainName, status } = facts;
        const known = domains.find.get({ providerId, domainHash });
        if (known !== null) {
          const isSame = known.domainName === domainName && known.status === status;
          if (updates && !isSame) {
            domains.change.run({ id: known.id, domainName, status });
            const change = {
              ...changesOf({ status: known.status }, { status }),
              ...(known.domainName !== domainName && { domain_name: 'changed' as const }),
            };
            const object = { id: known.id };
            audit.note(act, { action: 'domain.import', providerId, object, change });
          }
          return { was: wasHere(isSame, updates), id: known.id };
        }
        const owner = domains.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const free = id === null || domains.idIsTaken.get({ id }) !== null ? null : id;
        const added = domains.add.get({ ...facts, providerId, id: free }) as { id: number };
        const object = { id: added.id, domain_hash: domainHash };
        audit.note(act, { action: 'domain.import', providerId, object });
        return { was: 'added', id: added.id };
      }),
  };
}

function wasHere(isSame: boolean, updates: boolean): ImportedAs {
  if (isSame) return 'present';
  return updates ? 'updated' : 'different';
}
