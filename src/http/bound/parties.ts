/**
 * The party of a request in queues: whose turn it is. Usually that is the client's address. Many
 * customers come from an address of `limits.shared_addresses`, so there it is
 *
 * | The request | The party |
 * |---|---|
 * | names a link, as one did for which that link was found | the link, from the start |
 * | names a link that was not found lately | one of {@link TURNS} of the address, then the link |
 * | names none, or one that does not exist | one of {@link TURNS} of the address |
 *
 * So neither a flood by one link nor one of made-up keys holds up other customers of the exit, and
 * no made-up key is a party of its own. Names are known in memory alone, as hashes under a key of
 * this process.
 */

import type { Store } from '../../core/port/store.ts';
import type { SharedAddresses } from '../request/address.ts';

/** How often bounds by address hold at a shared one, and the parties of its unknown names. */
const SHARED_TIMES = 10;
const TURNS = SHARED_TIMES;
/** Names that are known at a time, some 150 bytes each, and of one link: its devices differ. */
const NAMES_MAX = 32_768;
const NAMES_PER_LINK_MAX = 16;
/** Names of a link that may push out those of others: a few links push out few. */
const NAMES_PER_LINK_FULL = 4;
const HASH_BYTES = 12;

/** Settings that are read for each request, so that a change applies at once. */
export interface SharedSettings {
  readonly sharedAddresses: SharedAddresses;
}

/** Returns how often the bound of a client by its address holds. */
export const timesOf = ({ sharedAddresses }: SharedSettings, client: string): number =>
  sharedAddresses.includes(client) ? SHARED_TIMES : 1;

/** Returns the party of a link. No client has such a name. */
export const partyOfLink = (installId: number): string => `link ${installId}`;

/** The names for which a link was found, and their parties; the oldest is forgotten first. */
class KnownNames {
  readonly #partyOf = new Map<string, string>();
  readonly #namesOf = new Map<string, Set<string>>();

  get size(): number {
    return this.#partyOf.size;
  }

  get(name: string): string | undefined {
    return this.#partyOf.get(name);
  }

  set(name: string, party: string): void {
    this.delete(name);
    const names = this.#namesOf.get(party) ?? new Set();
    const isFull = this.#partyOf.size >= NAMES_MAX;
    const ownMax = isFull ? NAMES_PER_LINK_FULL : NAMES_PER_LINK_MAX;
    const [oldest] = names.size >= ownMax ? names : isFull ? this.#partyOf.keys() : [];
    if (oldest !== undefined) this.delete(oldest);
    this.#namesOf.set(party, names.add(name));
    this.#partyOf.set(name, party);
  }

  delete(name: string): void {
    const party = this.#partyOf.get(name);
    if (party === undefined) return;
    this.#partyOf.delete(name);
    const names = this.#namesOf.get(party);
    names?.delete(name);
    if (names?.size === 0) this.#namesOf.delete(party);
  }
}

interface PartiesDeps {
  settings: SharedSettings;
  store: Pick<Store, 'continueAs'>;
  /** Returns the address under which the client of a request is counted. */
  clientOf(request: Request): string;
  /** Counts the connection of a request for a party from now on. */
  countAs(request: Request, party: string): void;
}

export class Parties {
  /** The links of requests from shared addresses that were found. */
  readonly #found = new WeakMap<Request, string>();
  readonly #known = new KnownNames();
  readonly #key = crypto.randomUUID();

  constructor(private readonly deps: PartiesDeps) {}

  /** The number of names that are known. */
  get nameCount(): number {
    return this.#known.size;
  }

  /** Returns whether the client of a request has a shared address. */
  isShared(request: Request): boolean {
    const { clientOf, settings } = this.deps;
    // First, since it runs for every request.
    const { sharedAddresses: shared } = settings;
    return !shared.isNone && shared.includes(clientOf(request));
  }

  /** Returns the party of a request. */
  readonly of = (request: Request): string => {
    const { clientOf, settings } = this.deps;
    const client = clientOf(request);
    if (!settings.sharedAddresses.includes(client)) return client;
    const name = this.#nameOf(request);
    return this.#linkOf(request, name) ?? `${client} ${turnOf(request, name)}`;
  };

  /** Returns the link of a request at a shared address, else its client, which has no turns. */
  readonly linkOrClient = (request: Request): string => {
    const client = this.deps.clientOf(request);
    if (!this.deps.settings.sharedAddresses.includes(client)) return client;
    return this.#linkOf(request, this.#nameOf(request)) ?? client;
  };

  /**
   * Notes the link that a request names: the rest of the call is of that party. `isInBody`: the
   * name is not in what {@link of} reads. Returns the party; null: the address is not shared.
   */
  found(request: Request, installId: number, isInBody = false): string | null {
    if (!this.isShared(request)) return null;
    const party = partyOfLink(installId);
    this.#found.set(request, party);
    if (!isInBody) this.#known.set(this.#nameOf(request), party);
    this.deps.store.continueAs(party);
    this.deps.countAs(request, party);
    return party;
  }

  /** Forgets the name of a request that turned out to be a guess: its link has ended. */
  guessed(request: Request): void {
    if (this.#known.size > 0 && this.isShared(request)) this.#known.delete(this.#nameOf(request));
  }

  #linkOf(request: Request, name: string): string | undefined {
    return this.#found.get(request) ?? this.#known.get(name);
  }

  /**
   * Returns a hash of everything in a request, but its body, that can name a link: so that no
   * request makes another one's name known.
   */
  #nameOf({ headers, method, url }: Request): string {
    const parts = NAMING.map((header) => headers.get(header));
    const text = JSON.stringify([this.#key, method === 'HEAD' ? 'GET' : method, url, ...parts]);
    const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex');
    return hash.slice(0, 2 * HASH_BYTES);
  }
}

/** Returns the turn of a request without a known name. Handshakes of streams may name nothing. */
function turnOf({ headers }: Request, name: string): number {
  return Bun.hash.crc32(headers.get('sec-websocket-key') ?? name) % TURNS;
}

/** The headers by which a request names a link: of devices, and of a proxy's question. */
const NAMING = [
  'authorization',
  'sec-websocket-protocol',
  'host',
  'x-forwarded-host',
  'x-original-uri',
  'x-original-url',
  'x-forwarded-uri',
  'x-domain-hash',
] as const;
