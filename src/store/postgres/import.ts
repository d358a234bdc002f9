/** Records that move in. Each link is one step together with its HWIDs: it is here or it is not. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { merge, mergeInstall } from '../../core/moving/merge.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Install, InstallTerms } from '../../core/port/install.ts';
import type { ImportedInstall } from '../../core/port/moving.ts';
import type { Store } from '../../core/port/store.ts';
import { NO_TERMS } from '../../core/slot.ts';
import type { Context } from './context.ts';
import { bindingRows } from './domain.ts';
import { constraintOf } from './fault.ts';
import { addSlots } from './import-slots.ts';
import { linkRows, SET_LINK, TERMS_COLUMNS } from './install-rows.ts';
import { prepare, type Statement, value } from './statement.ts';
import type { Write } from './write.ts';

type ImportStore = Pick<Store, 'reserveIds' | 'importInstall' | 'importDomain'>;

type KnownInstall = Pick<Install, 'id' | 'installLimit' | 'deviceCount' | 'status' | 'note'> &
  InstallTerms & { providerId: number };

const taken = (table: string) =>
  prepare<{ id: number }>(sql`SELECT id FROM ${sql.raw(table)} WHERE id = ${value('id')}`);

const on = {
  find: prepare<KnownInstall>(sql`
      SELECT id, provider_id AS "providerId", install_limit AS "installLimit",
        device_count AS "deviceCount", status, note, ${TERMS_COLUMNS}
      FROM install WHERE install_code = ${value('installCode')} FOR NO KEY UPDATE`),
  replaced: prepare(sql`
      UPDATE install SET replaced_at_ms = ${value('replacedAtMs')} WHERE id = ${value('id')}`),
  idIsTaken: taken('install'),
  domainIdIsTaken: taken('domain'),
  change: prepare(sql`UPDATE install SET ${SET_LINK} WHERE id = ${value('id')}`),
};

/** Statements about the sequence that gives a table its ids. */
const sequenceOf = (table: string) => {
  const name = sql.raw(`${table}_id_seq`);
  return {
    last: prepare<{ lastId: number }>(sql`SELECT last_value AS "lastId" FROM ${name}`),
    /** Changes nothing, but nobody else is given an id until the write ends. */
    hold: prepare(sql`ALTER SEQUENCE ${name} INCREMENT BY 1`),
    raise: prepare(sql`
        SELECT setval(${sql.raw(`'${table}_id_seq'`)}, greatest(last_value, ${value('id')}::bigint))
        FROM ${name}`),
  };
};
const linkIds = sequenceOf('install');
const domainIds = sequenceOf('domain');

/** Sees to it that the ids that a sequence gives are above this one from now on. */
async function raise(w: Write, ids: typeof linkIds, id: number): Promise<void> {
  if (((await ids.last.get(w))?.lastId ?? 0) >= id) return;
  await ids.hold.run(w);
  await ids.raise.run(w, { id });
}

/** The wanted id if it is free, and given to nobody else; null: the next one is to be taken. */
async function freeId(
  w: Write,
  wanted: number | null,
  isTaken: Statement<{ id: number }>,
  ids: typeof linkIds,
): Promise<number | null> {
  if (wanted === null) return null;
  const [taken] = await Promise.all([isTaken.get(w, { id: wanted }), raise(w, ids, wanted)]);
  return taken === null ? wanted : null;
}

/** Runs it again if another one took the id at the same moment: then it is seen to be taken. */
async function again<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (fault) {
    if (!/^(install|domain)_pkey$/.test(constraintOf(fault))) throw fault;
    return run();
  }
}

/** Terms that are wanted here; with the key that it has if another link has the wanted one. */
async function termsHere(
  w: Write,
  wanted: InstallTerms | undefined,
  known: Pick<KnownInstall, 'subscriptionKeyHash' | 'providerId'> & { id: number | null },
): Promise<InstallTerms | undefined> {
  if (wanted === undefined) return wanted;
  const { id, providerId, subscriptionKeyHash } = known;
  const other = await linkRows.otherWithKey.get(w, { ...wanted, providerId, id });
  return other === null ? wanted : { ...wanted, subscriptionKeyHash };
}

async function update(
  w: Write,
  known: KnownInstall,
  { slots, installLimit, status, note, terms }: ImportedInstall,
  updates: boolean,
  act: Act,
) {
  const { id, deviceCount, providerId } = known;
  const wanted = { installLimit, status, note, ...(await termsHere(w, terms, known)) };
  const { was, after } = mergeInstall(known, wanted, updates);
  if (was === 'updated') await on.change.run(w, { ...after });
  const room = after.installLimit - deviceCount;
  const counts = await addSlots(w, { installId: id, providerId }, slots, room, act.atMs);
  w.audit.note(act, deeds.importInstall(known, after, counts.slotsAdded), providerId);
  return { was, id, ...counts };
}

async function importInstall(
  w: Write,
  ...[providerId, wanted, { installCountMax, updates }, act]: Parameters<
    ImportStore['importInstall']
  >
): ReturnType<ImportStore['importInstall']> {
  const { slots, id, terms, replacedAtMs, ...facts } = wanted;
  // One behind the other, without waiting: the link is looked at when the provider is locked.
  const [owner, known] = await Promise.all([
    linkRows.countOf.get(w, { providerId }),
    on.find.get(w, { installCode: facts.installCode }),
  ]);
  if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
  if (known !== null) {
    if (known.providerId !== providerId) return 'install_code_exists';
    return update(w, known, wanted, updates, act);
  }
  if (owner.installCount >= installCountMax) return 'install_code_limit_reached';
  const none = { ...NO_TERMS, providerId, id: null };
  const [free, own] = await Promise.all([
    freeId(w, id, on.idIsTaken, linkIds),
    termsHere(w, terms, none),
  ]);
  const added = { ...none, ...facts, ...own };
  const row = await linkRows.add.get(w, { ...added, id: free });
  // The provider's own links come one after the other: somebody else's has the code by now.
  if (row === null) return 'install_code_exists';
  const { id: installId } = row;
  if (replacedAtMs !== undefined) await on.replaced.run(w, { id: installId, replacedAtMs });
  const of = { installId, providerId };
  const counts = await addSlots(w, of, slots, facts.installLimit, act.atMs);
  const deed = deeds.importInstall(null, { ...added, id: installId }, counts.slotsAdded);
  w.audit.note(act, deed, providerId);
  return { was: 'added', id: installId, ...counts };
}

async function importDomain(
  w: Write,
  ...[providerId, wanted, { domainCountMax, updates }, act]: Parameters<ImportStore['importDomain']>
): ReturnType<ImportStore['importDomain']> {
  const { id, ...facts } = wanted;
  const { domainHash, domainName, status } = facts;
  const owner = await bindingRows.countOf.get(w, { providerId });
  if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
  const known = await bindingRows.findByHash.get(w, { providerId, domainHash });
  if (known !== null) {
    const { was, after } = merge(known, { domainName, status }, updates);
    if (was === 'updated') await bindingRows.change.run(w, { id: known.id, domainName, status });
    w.audit.note(act, deeds.importDomain(known, after), providerId);
    return { was, id: known.id };
  }
  if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
  const free = await freeId(w, id, on.domainIdIsTaken, domainIds);
  const added = { id: await bindingRows.add.insert(w, { ...facts, providerId, id: free }) };
  w.audit.note(act, deeds.importDomain(null, { ...facts, ...added }), providerId);
  return { was: 'added', id: added.id };
}

export function importStore({ write }: Context): ImportStore {
  return {
    reserveIds: ({ installId, domainId }) =>
      write(async (w) => {
        await raise(w, linkIds, installId);
        await raise(w, domainIds, domainId);
      }),
    importInstall: (...asked) => again(() => write((w) => importInstall(w, ...asked))),
    importDomain: (...asked) => again(() => write((w) => importDomain(w, ...asked))),
  };
}
