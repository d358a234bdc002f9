/** Links that move in, as many as are asked for in one turn: one transaction, few statements. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { mergeInstall } from '../../core/moving/merge.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Install, InstallTerms } from '../../core/port/install.ts';
import type { ImportedInstall, ImportStore } from '../../core/port/moving.ts';
import { NO_TERMS } from '../../core/slot.ts';
import { linkIds, raise } from './import-id.ts';
import { type AddedSlots, addSlots, type Destined } from './import-slots.ts';
import { linkRows, SET_LINK, TERMS_COLUMNS } from './install-rows.ts';
import { inRounds } from './rounds.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** A link as it is wanted at a provider. */
export interface MovingLink {
  providerId: number;
  install: ImportedInstall;
  rules: Parameters<ImportStore['importInstall']>[2];
  act: Act;
}

type Result = Awaited<ReturnType<ImportStore['importInstall']>>;

type KnownInstall = Pick<Install, 'id' | 'installLimit' | 'deviceCount' | 'status' | 'note'> &
  InstallTerms & { providerId: number; installCode: string };

type NewLink = Omit<ImportedInstall, 'slots' | 'terms'> & InstallTerms & { providerId: number };

const on = {
  known: prepare<KnownInstall>(sql`
      SELECT id, provider_id AS "providerId", install_code AS "installCode",
        install_limit AS "installLimit", device_count AS "deviceCount", status, note,
        ${TERMS_COLUMNS}
      FROM install WHERE install_code = ANY(${value('codes')}::text[])
      ORDER BY id FOR NO KEY UPDATE`),
  taken: prepare<{ id: number }>(sql`
      SELECT id FROM install WHERE id = ANY(${value('ids')}::bigint[])`),
  keys: prepare<{ id: number; providerId: number; key: string }>(sql`
      SELECT id, provider_id AS "providerId", encode(subscription_key_hash, 'hex') AS key
      FROM install
      WHERE subscription_key_hash = ANY(
        ARRAY(SELECT decode(x, 'hex') FROM unnest(${value('keys')}::text[]) x))`),
  change: prepare(sql`UPDATE install SET ${SET_LINK} WHERE id = ${value('id')}`),
  /** A null as id takes the next one. A link of which another has the code by now is left out. */
  add: prepare<{ id: number; installCode: string }>(sql`
      INSERT INTO install (id, provider_id, install_code, install_limit, status, note,
        created_at_ms, subscription_key_hash, inactive_days, when_full, cool_down_hours,
        replaced_at_ms)
      SELECT coalesce(x.id, nextval('install_id_seq')), x.provider_id, x.code, x.install_limit,
        x.status, x.note, x.created_ms, decode(x.key, 'hex'), x.inactive_days, x.when_full,
        x.cool_down_hours, x.replaced_ms
      FROM unnest(${value('id')}::bigint[], ${value('providerId')}::bigint[],
          ${value('installCode')}::text[], ${value('installLimit')}::integer[],
          ${value('status')}::integer[], ${value('note')}::text[],
          ${value('createdAtMs')}::bigint[], ${value('subscriptionKeyHash')}::text[],
          ${value('inactiveDays')}::integer[], ${value('whenFull')}::text[],
          ${value('coolDownHours')}::integer[], ${value('replacedAtMs')}::bigint[])
        WITH ORDINALITY AS x(id, provider_id, code, install_limit, status, note, created_ms, key,
          inactive_days, when_full, cool_down_hours, replaced_ms, n)
      ORDER BY x.n
      ON CONFLICT (install_code) DO NOTHING RETURNING id, install_code AS "installCode"`),
};

/** What is here of what is wanted, as the links of a round are decided one after the other. */
class Here {
  readonly known: ReadonlyMap<string, KnownInstall>;
  readonly #counts: Map<number, number>;
  readonly #ids: Set<number>;
  /** Links by provider and key; 0: one that is added in this round. */
  readonly #keys: Map<string, number>;

  constructor(
    counts: Map<number, number>,
    known: readonly KnownInstall[],
    ids: readonly { id: number }[],
    keys: readonly { id: number; providerId: number; key: string }[],
  ) {
    this.#counts = counts;
    this.known = new Map(known.map((link) => [link.installCode, link]));
    this.#ids = new Set(ids.map(({ id }) => id));
    this.#keys = new Map(keys.map(({ id, providerId, key }) => [`${providerId} ${key}`, id]));
  }

  /** Terms that are wanted here; with the key that it has if another link has the wanted one. */
  terms(
    wanted: InstallTerms | undefined,
    had: Pick<KnownInstall, 'subscriptionKeyHash' | 'providerId'> & { id: number },
  ): InstallTerms | undefined {
    if (wanted === undefined || wanted.subscriptionKeyHash === null) return wanted;
    const { id, providerId, subscriptionKeyHash } = had;
    const key = `${providerId} ${wanted.subscriptionKeyHash}`;
    const holder = this.#keys.get(key);
    const isFree = holder === undefined || (holder === id && holder !== 0);
    return isFree ? wanted : { ...wanted, subscriptionKeyHash };
  }

  /** Notes that a link that is here has other terms from now on. */
  changed(before: KnownInstall, after: KnownInstall): void {
    const { id, providerId } = before;
    if (before.subscriptionKeyHash === after.subscriptionKeyHash) return;
    this.#keys.delete(`${providerId} ${before.subscriptionKeyHash}`);
    if (after.subscriptionKeyHash !== null) {
      this.#keys.set(`${providerId} ${after.subscriptionKeyHash}`, id);
    }
  }

  /** The link as it is to be added; null: there is no room for it. */
  added({ providerId, install, rules }: MovingLink): NewLink | null {
    const { slots: _, id, terms, ...facts } = install;
    const count = this.#counts.get(providerId);
    if (count === undefined) throw new Error(`provider ${providerId} was removed meanwhile`);
    if (count >= rules.installCountMax) return null;
    this.#counts.set(providerId, count + 1);
    const none = { ...NO_TERMS, providerId, id: 0 };
    const own = this.terms(terms, none) ?? NO_TERMS;
    if (own.subscriptionKeyHash !== null) {
      this.#keys.set(`${providerId} ${own.subscriptionKeyHash}`, 0);
    }
    const isFree = id !== null && !this.#ids.has(id);
    if (isFree) this.#ids.add(id);
    return { ...facts, ...own, providerId, id: isFree ? id : null };
  }
}

/** Looks at what is here of the wanted links; locks their providers, and those that are here. */
async function look(w: Write, wanted: readonly MovingLink[]): Promise<Here> {
  const counts = new Map<number, number>();
  const providerIds = [...new Set(wanted.map(({ providerId }) => providerId))];
  for (const providerId of providerIds.sort((a, b) => a - b)) {
    const owner = await linkRows.countOf.get(w, { providerId });
    if (owner !== null) counts.set(providerId, owner.installCount);
  }
  const ids = wanted.flatMap(({ install }) => install.id ?? []);
  const codes = wanted.map(({ install }) => install.installCode);
  const keys = wanted.flatMap(({ install }) => install.terms?.subscriptionKeyHash ?? []);
  const [known, taken, held] = await Promise.all([
    on.known.all(w, { codes }),
    ids.length === 0 ? [] : on.taken.all(w, { ids }),
    keys.length === 0 ? [] : on.keys.all(w, { keys }),
    ids.length === 0 ? null : raise(w, linkIds, Math.max(...ids)),
  ]);
  return new Here(counts, known, taken, held);
}

/** What is done for one link: it is added, it is here already, or it is refused. */
type Step =
  | { kind: 'new'; link: NewLink }
  | {
      kind: 'here';
      was: 'present' | 'different' | 'updated';
      known: KnownInstall;
      after: KnownInstall;
    }
  | { kind: 'refused'; why: 'install_code_exists' | 'install_code_limit_reached' };

async function stepOf(w: Write, here: Here, moving: MovingLink): Promise<Step> {
  const { providerId, install, rules } = moving;
  const known = here.known.get(install.installCode);
  if (known === undefined) {
    const link = here.added(moving);
    return link === null
      ? { kind: 'refused', why: 'install_code_limit_reached' }
      : { kind: 'new', link };
  }
  if (known.providerId !== providerId) return { kind: 'refused', why: 'install_code_exists' };
  const { installLimit, status, note } = install;
  const wanted = { installLimit, status, note, ...here.terms(install.terms, known) };
  const { was, after } = mergeInstall(known, wanted, rules.updates);
  if (was === 'updated') {
    here.changed(known, after);
    await on.change.run(w, { ...after });
  }
  return { kind: 'here', was, known, after };
}

/** Adds the links that are new; says their ids by code. */
async function addLinks(w: Write, links: readonly NewLink[]): Promise<Map<string, number>> {
  if (links.length === 0) return new Map();
  const column = <Name extends keyof NewLink>(name: Name) =>
    links.map((link) => link[name] ?? null);
  const added = await on.add.all(w, {
    id: column('id'),
    providerId: column('providerId'),
    installCode: column('installCode'),
    installLimit: column('installLimit'),
    status: column('status'),
    note: column('note'),
    createdAtMs: column('createdAtMs'),
    subscriptionKeyHash: column('subscriptionKeyHash'),
    inactiveDays: column('inactiveDays'),
    whenFull: column('whenFull'),
    coolDownHours: column('coolDownHours'),
    replacedAtMs: column('replacedAtMs'),
  });
  return new Map(added.map(({ id, installCode }) => [installCode, id]));
}

/** Moves links in, of which each code is there once. */
async function importRound(w: Write, wanted: readonly MovingLink[]): Promise<Result[]> {
  const here = await look(w, wanted);
  const steps: Step[] = [];
  for (const moving of wanted) steps.push(await stepOf(w, here, moving));
  const links = steps.flatMap((step) => (step.kind === 'new' ? step.link : []));
  const ids = await addLinks(w, links);
  const isOverCap = (step: Step) =>
    step.kind === 'refused' && step.why === 'install_code_limit_reached';
  if (ids.size < links.length && steps.some(isOverCap)) {
    // There may be room for them: each is done alone.
    throw new Error('somebody else took the code of a link that was counted');
  }
  const destined = wanted.map(({ providerId, install, act }, n): Destined | null => {
    const step = steps[n] as Step;
    if (step.kind === 'refused') return null;
    const of = { providerId, slots: install.slots, nowMs: act.atMs };
    if (step.kind === 'here') {
      const { known, after } = step;
      return { ...of, installId: known.id, room: after.installLimit - known.deviceCount };
    }
    const installId = ids.get(install.installCode);
    return installId === undefined ? null : { ...of, installId, room: install.installLimit };
  });
  const slots = await addSlots(w, destined);
  return wanted.map((moving, n) => resultOf(w, moving, steps[n] as Step, slots[n] ?? null, ids));
}

/** The answer for a link, whose entry is noted. */
function resultOf(
  w: Write,
  { providerId, install, act }: MovingLink,
  step: Step,
  counts: AddedSlots | null,
  ids: ReadonlyMap<string, number>,
): Result {
  if (step.kind === 'refused') return step.why;
  // Somebody else's link has the code since it was looked at.
  if (counts === null) return 'install_code_exists';
  if (step.kind === 'here') {
    const { was, known, after } = step;
    w.audit.note(act, deeds.importInstall(known, after, counts.slotsAdded), providerId);
    return { was, id: known.id, ...counts };
  }
  const id = ids.get(install.installCode) ?? 0;
  const link = { ...step.link, id };
  w.audit.note(act, deeds.importInstall(null, link, counts.slotsAdded), providerId);
  return { was: 'added', id, ...counts };
}

/** Moves links in as one write; the answers are in their order. */
export function importLinks(w: Write, wanted: readonly MovingLink[]): Promise<Result[]> {
  return inRounds(
    wanted,
    ({ install }) => install.installCode,
    (round) => importRound(w, round),
  );
}
