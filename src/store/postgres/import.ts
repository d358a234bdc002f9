/** Records that move in; import-link.ts has the links. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { merge } from '../../core/moving/merge.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend } from '../backend.ts';
import { bindingStatements } from '../noun/domain.ts';
import { runOn } from './backend.ts';
import type { Context } from './context.ts';
import { constraintOf } from './fault.ts';
import { TurnGroup } from './group.ts';
import { domainIds, linkIds, raise } from './import-id.ts';
import { importLinks, type MovingLink } from './import-link.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

type ImportStore = Pick<Store, 'reserveIds' | 'importInstall' | 'importDomain'>;

/** Links that move in with one write. */
const LINKS_MAX = 256;

const idIsTaken = prepare<{ id: number }>(sql`SELECT id FROM domain WHERE id = ${value('id')}`);

/** Runs it again if another one took an id at the same moment: then it is seen to be taken. */
async function again<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (fault) {
    if (!/^(install|domain)_pkey$/.test(constraintOf(fault))) throw fault;
    return run();
  }
}

/** The wanted id if it is free, and given to nobody else; null: the next one is to be taken. */
async function freeId(w: Write, wanted: number | null): Promise<number | null> {
  if (wanted === null) return null;
  const looked = [idIsTaken.get(w, { id: wanted }), raise(w, domainIds, wanted)] as const;
  const [taken] = await Promise.all(looked);
  return taken === null ? wanted : null;
}

async function importDomain(
  w: Write,
  on: ReturnType<typeof bindingStatements>,
  ...[providerId, wanted, { domainCountMax, updates }, act]: Parameters<ImportStore['importDomain']>
): ReturnType<ImportStore['importDomain']> {
  const { id, ...facts } = wanted;
  const { domainHash, domainName, status } = facts;
  const owner = await runOn(w, on.countOf.get({ providerId }));
  if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
  const known = await runOn(w, on.findByHash.get({ providerId, domainHash }));
  if (known !== null) {
    const { was, after } = merge(known, { domainName, status }, updates);
    if (was === 'updated') await runOn(w, on.change.run({ id: known.id, domainName, status }));
    w.audit.note(act, deeds.importDomain(known, after), providerId);
    return { was, id: known.id };
  }
  if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
  const free = await freeId(w, id);
  const added = { id: await runOn(w, on.add.insert({ ...facts, providerId, id: free })) };
  w.audit.note(act, deeds.importDomain(null, { ...facts, ...added }), providerId);
  return { was: 'added', id: added.id };
}

export function importStore({ db, write }: Context, backend: Backend): ImportStore {
  const bindings = bindingStatements(backend);
  const links = new TurnGroup(db, {
    isWrite: true,
    run: (wanted: readonly MovingLink[]) => again(() => write((w) => importLinks(w, wanted))),
    itemsMax: LINKS_MAX,
    inFlightMax: 1,
  });
  return {
    reserveIds: ({ installId, domainId }) =>
      write(async (w) => {
        await raise(w, linkIds, installId);
        await raise(w, domainIds, domainId);
      }),
    importInstall: (providerId, install, rules, act) =>
      links.ask({ providerId, install, rules, act }),
    importDomain: (...asked) => again(() => write((w) => importDomain(w, bindings, ...asked))),
  };
}
