/** Reads what an app sends: any JSON, of which only what the cases read is kept. */

export interface Item {
  id: number;
  state: string;
}

/** The fields of a registration that cases read, and the most characters of one. */
const FIELDS = ['hwid', 'install_code', 'domain_hash', 'os', 'push', 'subscription_url'];
const FIELD_LENGTH_MAX = 2_048;

/** Returns the token among the subprotocols of a stream. */
export const subprotocolToken = (request: Request): string | null =>
  /(?:^|[ ,])bearer\.([\w-]+)/.exec(request.headers.get('sec-websocket-protocol') ?? '')?.[1] ??
  null;

/** Returns how many bytes of a frame the device takes; null: it does not say it. */
export function frameMaxOf(request: Request): number | null {
  const said =
    request.headers.get('x-frame-max') ?? new URL(request.url).searchParams.get('frame_max');
  const bytes = Number(said ?? Number.NaN);
  return bytes >= 1_024 && bytes <= 65_536 ? bytes : null;
}

/** Returns the pause between pings that a stream asks for, s; null: it asks for none. */
export function pingOf(query: URLSearchParams): number | null {
  const seconds = Number(query.get('ping') ?? Number.NaN);
  return Number.isInteger(seconds) ? seconds : null;
}

export async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const body: unknown = await request.json().catch(() => null);
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

/** Returns the fields that cases read; a sentence stands for a long one. */
export function fieldsOf(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const short = (value: unknown) => {
    const { length } = JSON.stringify(value ?? null);
    return length > FIELD_LENGTH_MAX ? `${length} characters` : value;
  };
  return Object.fromEntries(FIELDS.map((name) => [name, short(body[name])]));
}

/** Reads a frame of acknowledgements; returns none if it is malformed. */
export function itemsIn(frame: string): Item[] {
  try {
    const { items } = JSON.parse(frame) as { items: unknown };
    return itemsOf(items);
  } catch {
    return [];
  }
}

/** Reads a list of items from any JSON; one without the right form is an invalid item. */
export function itemsOf(items: unknown): Item[] {
  if (!Array.isArray(items)) return [];
  return items.map((item: unknown) => {
    const { id, state } = { ...UNFIT, ...Object(item) } as Item;
    return { id, state };
  });
}

const UNFIT: Item = { id: 0, state: '' };

export const areFit = (items: readonly Item[]): boolean =>
  items.length >= 1 &&
  items.length <= 100 &&
  items.every(({ id, state }) => Number.isSafeInteger(id) && id > 0 && STATES.has(state));

const STATES: ReadonlySet<string> = new Set(['received', 'opened', 'executed', 'failed']);
