/**
 * Changes at providers since the last look, for open pages of the console. Compares the newest rows
 * with those of the last look, because two writers may commit their ids in any order. A look
 * without a commit since the last one reads one mark.
 */

import { type AuditEntry, providerOf } from './audit/entry.ts';
import { DAY_MS } from './calendar.ts';
import { type Marked, NEWEST_COUNT, type NewestOfProvider } from './port/change.ts';
import type { Provider } from './port/provider.ts';
import type { Store } from './port/store.ts';

/** The most ids of one kind in a change; more become {@link ALL}. */
const NAMED_MAX = 50;

/** The ids of changed records by kind; an empty list: any record of the kind may have changed. */
export type Change = Partial<Record<'links' | 'messages' | 'jobs', readonly number[]>>;

/** The list that stands for any record. */
export const ALL: readonly number[] = [];

/** The rows of a provider at the last look. */
interface Seen {
  slotEnds: ReadonlySet<number>;
  messages: ReadonlyMap<number, string>;
  jobs: ReadonlyMap<number, string>;
  unlisted: string;
  figures: string;
}

type Watched = Pick<Provider, 'id' | 'code'>;

/** Finds changes; runs one look or meeting at a time. */
export class Changes {
  #mark: string | null = null;
  #slots: ReadonlySet<number> | null = null;
  #slotId = 0;
  #blockNumber = 0;
  #seen = new Map<number, Seen>();
  /** Providers whose pages were opened since the last look. */
  readonly #met = new Map<number, Seen>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Pick<Store, 'readCommitMark' | 'readNewestOfAll' | 'readNewestOf'>,
  ) {}

  /**
   * Returns the changes since the last look by provider; none at the first look. Returns null if
   * there was no commit since the last look.
   */
  look(providers: readonly Watched[], nowMs: number): Promise<Map<number, Change> | null> {
    return this.#inTurn(() => this.#look(providers, nowMs));
  }

  /** Reads the present rows of a provider: the next look finds changes from then on. */
  meet({ id }: Watched, nowMs: number): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#slots === null) await this.#links([]);
      if (this.#seen.has(id) || this.#met.has(id)) return;
      const found = await this.store.readNewestOf(id, Math.floor(nowMs / DAY_MS));
      this.#met.set(id, seenIn(found));
    });
  }

  #inTurn<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#turn.then(make);
    this.#turn = made.catch(() => {});
    return made;
  }

  async #look(providers: readonly Watched[], nowMs: number): Promise<Map<number, Change> | null> {
    const mark = await this.store.readCommitMark();
    if (mark === this.#mark && providers.every(({ id }) => this.#seen.has(id))) return null;
    const links = await this.#links(providers);
    const changes = new Map<number, Change>();
    const seen = new Map<number, Seen>();
    for (const { id } of providers) {
      const found = await this.store.readNewestOf(id, Math.floor(nowMs / DAY_MS));
      const known = this.#seen.get(id) ?? this.#met.get(id);
      this.#met.delete(id);
      seen.set(id, seenIn(found));
      if (known === undefined) continue;
      const change = changeOf(known, found, links.get(id) ?? []);
      if (Object.keys(change).length > 0) changes.set(id, change);
    }
    // Providers without open pages are forgotten.
    this.#seen = seen;
    this.#mark = mark;
    return changes;
  }

  /** Returns the links with a new slot or an entry in the audit log, by provider. */
  async #links(providers: readonly Watched[]): Promise<Map<number, (number | 'all')[]>> {
    const found = await this.store.readNewestOfAll({
      slotId: Math.max(0, this.#slotId - NEWEST_COUNT),
      blockNumber: this.#blockNumber,
    });
    const links = new Map<number, (number | 'all')[]>(providers.map(({ id }) => [id, []]));
    const known = this.#slots;
    this.#slots = new Set(found.slots.map(({ id }) => id));
    this.#slotId = found.slots[0]?.id ?? this.#slotId;
    this.#blockNumber = found.blocks[0]?.number ?? this.#blockNumber;
    if (known === null) return links;
    const fresh = found.slots.filter(({ id }) => !known.has(id));
    const isMore = fresh.length === NEWEST_COUNT || found.blocks.length === NEWEST_COUNT;
    for (const { installId, providerId } of fresh) links.get(providerId)?.push(installId);
    const idOf = new Map(providers.map(({ code, id }) => [code, id]));
    for (const { entries } of found.blocks) {
      for (const { code, link } of linksIn(entries)) {
        const ids = code === null ? [...links.keys()] : [idOf.get(code) ?? 0];
        for (const id of ids) links.get(id)?.push(link);
      }
    }
    if (isMore) for (const all of links.values()) all.push('all');
    return links;
  }
}

/** Returns the links in entries, with the codes of their providers; null: any link. */
function linksIn(text: string | null): { code: string | null; link: number | 'all' }[] {
  if (text === null) return [{ code: null, link: 'all' }];
  return (JSON.parse(text) as AuditEntry[]).flatMap((entry) => {
    const { action, object } = entry;
    const ofHwid = action.startsWith('hwid.');
    const id = ofHwid ? object['install_id'] : object['id'];
    const isLink = action.startsWith('install.') || ofHwid;
    return isLink && typeof id === 'number' ? [{ code: providerOf(entry), link: id }] : [];
  });
}

const marksOf = (rows: readonly Marked[]) => new Map(rows.map(({ id, mark }) => [id, mark]));

function seenIn({ slotEnds, messages, jobs, ...marks }: NewestOfProvider): Seen {
  return {
    ...marks,
    slotEnds: new Set(slotEnds.map(({ id }) => id)),
    messages: marksOf(messages),
    jobs: marksOf(jobs),
  };
}

function changeOf(known: Seen, found: NewestOfProvider, links: (number | 'all')[]): Change {
  const ended = found.slotEnds.filter(({ id }) => !known.slotEnds.has(id));
  const jobs = movedIn(known.jobs, found.jobs);
  const messages = movedIn(known.messages, found.messages);
  const isUnnamed =
    ended.length === NEWEST_COUNT ||
    found.unlisted !== known.unlisted ||
    // The entry of a job over many links names none of them.
    found.jobs.some(({ id, isOver }) => isOver === 1 && jobs.includes(id));
  const moreLinks = [...links, ...ended.map(({ installId }) => installId)];
  return {
    ...named('links', isUnnamed ? ['all'] : moreLinks),
    // A page that shows receipts reloads them when the figures of messages change.
    ...named('messages', found.figures === known.figures ? messages : [...messages, 'all']),
    ...named('jobs', jobs),
  };
}

/**
 * Returns the rows whose mark changed, and rows that are no longer among the newest or unfinished.
 */
function movedIn(known: ReadonlyMap<number, string>, found: readonly Marked[]): number[] {
  const now = marksOf(found);
  const moved = found.filter(({ id, mark }) => known.get(id) !== mark).map(({ id }) => id);
  return [...moved, ...[...known.keys()].filter((id) => !now.has(id))];
}

function named(kind: keyof Change, ids: readonly (number | 'all')[]): Change {
  const all = new Set(ids);
  if (all.size === 0) return {};
  return { [kind]: all.has('all') || all.size > NAMED_MAX ? ALL : [...all] };
}
