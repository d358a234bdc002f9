/**
 * Who may have a HWID's messages, told a second time and in another way than the program does: a
 * provider P with a link of the device and one of another user, a provider M with a link, and four
 * who know the HWID.
 */

export type ProviderName = 'P' | 'M';
export type LinkName = 'own' | 'others' | 'ofM';
/** The device, another user of P, a stranger who knows P's binding, and whoever is at M. */
export type ActorName = 'device' | 'user' | 'stranger' | 'rogue';

export type ShownModel =
  | { by: 'link'; link: LinkName }
  | { by: 'binding'; provider: ProviderName }
  | { by: 'nothing' };

export type OpModel =
  | { op: 'register'; actor: ActorName; shown: ShownModel; withToken: boolean }
  | { op: 'enter' | 'leave' | 'toggle'; link: LinkName }
  | { op: 'send'; provider: ProviderName }
  | { op: 'call'; provider: ProviderName };

export const PROVIDER_OF: Readonly<Record<LinkName, ProviderName>> = {
  own: 'P',
  others: 'P',
  ofM: 'M',
};

interface Place {
  token: number;
  byLink: boolean;
  /** It opens messages from this number on. */
  from: number;
}

export interface World {
  /** In the order in which they were taken. */
  slots: { link: LinkName; from: number }[];
  disabled: LinkName[];
  ties: ProviderName[];
  places: Partial<Record<ProviderName, Place>>;
  nobody: { token: number; from: number } | null;
  /** Good tokens, by number. */
  tokens: Record<number, { actor: ActorName; standsAlone: boolean }>;
  /** The token that each of them has, good or not. */
  held: Partial<Record<ActorName, number>>;
  messages: { provider: ProviderName; isUnbound: boolean }[];
  tokenCount: number;
}

export const NEW_WORLD: World = {
  slots: [],
  disabled: [],
  ties: [],
  places: {},
  nobody: null,
  tokens: {},
  held: {},
  messages: [],
  tokenCount: 0,
};

/** What an operation comes to; the cell of the table is named for registrations. */
export interface Step {
  after: World;
  says: 'ok' | 'registration_refused' | 'link_disabled';
  cell: string | null;
}

export function isLinked(world: World, provider: ProviderName): boolean {
  return slotsAt(world, provider).length > 0 || world.ties.includes(provider);
}

const slotsAt = (world: World, provider: ProviderName) =>
  world.slots.filter(({ link }) => PROVIDER_OF[link] === provider);

/** The numbers of the messages that a token may read, in order. */
export function readableIn(world: World, token: number): number[] {
  if (world.tokens[token] === undefined) return [];
  return [...world.messages.keys()].filter((n) => {
    const { provider, isUnbound } = world.messages[n] ?? { provider: 'P', isUnbound: true };
    if (isUnbound) return world.nobody?.token === token && n >= world.nobody.from;
    const place = world.places[provider];
    return place?.token === token && n >= place.from && isLinked(world, provider);
  });
}

export function play(before: World, op: OpModel): Step {
  const after = structuredClone(before);
  if (op.op === 'register') return register(after, op);
  if (op.op === 'send') {
    after.messages.push({ provider: op.provider, isUnbound: !isLinked(after, op.provider) });
  } else if (op.op === 'call') {
    tie(after, op.provider);
  } else if (op.op === 'toggle') {
    after.disabled = after.disabled.includes(op.link)
      ? after.disabled.filter((link) => link !== op.link)
      : [...after.disabled, op.link];
  } else if (op.op === 'leave') {
    after.slots = after.slots.filter(({ link }) => link !== op.link);
  } else if (!after.disabled.includes(op.link)) {
    takeSlot(after, op.link);
  }
  return { after, says: 'ok', cell: null };
}

function takeSlot(world: World, link: LinkName): void {
  if (world.slots.some((slot) => slot.link === link)) return;
  world.slots.push({ link, from: world.messages.length });
}

function tie(world: World, provider: ProviderName): void {
  if (!world.ties.includes(provider)) world.ties.push(provider);
}

function register(
  world: World,
  { actor, shown, withToken }: Extract<OpModel, { op: 'register' }>,
): Step {
  const refused = (says: Step['says'], cell: string | null): Step => ({ after: world, says, cell });
  if (shown.by === 'link' && world.disabled.includes(shown.link)) {
    return refused('link_disabled', null);
  }
  const shownToken = withToken ? world.held[actor] : undefined;
  const held = shownToken !== undefined && world.tokens[shownToken] ? shownToken : null;
  const provider =
    shown.by === 'link' ? PROVIDER_OF[shown.link] : shown.by === 'binding' ? shown.provider : null;
  const first = provider && slotsAt(world, provider)[0];
  const place = provider === null ? world.nobody : (world.places[provider] ?? null);

  const isFirst = shown.by === 'link' ? !first || first.link === shown.link : !first;
  const claim = shown.by !== 'nothing' && !isFirst ? 'later' : shown.by;
  const isOwn = held !== null && (provider === null || place?.token === held);
  const cell = `${claim}, ${isOwn ? 'own' : place ? 'another' : 'free'}`;

  if (!isOwn) {
    if (claim === 'later') return refused('registration_refused', cell);
    const isByLink = provider !== null && world.places[provider]?.byLink === true;
    if (place && !(claim === 'link' && isByLink)) return refused('registration_refused', cell);
  }
  const token = held ?? world.tokenCount;
  if (held === null) {
    world.tokenCount += 1;
    world.tokens[token] = { actor, standsAlone: shown.by === 'nothing' };
  }
  world.held[actor] = token;
  if (shown.by === 'link') takeSlot(world, shown.link);
  if (shown.by === 'binding') tie(world, shown.provider);
  if (provider !== null) take(world, provider, token, claim, isOwn);
  world.nobody ??= { token, from: world.messages.length };
  return { after: world, says: 'ok', cell };
}

function take(
  world: World,
  provider: ProviderName,
  token: number,
  claim: string,
  isOwn: boolean,
): void {
  const old = world.places[provider];
  const first = slotsAt(world, provider)[0];
  if (isOwn && old) {
    if (claim !== 'link') return;
    world.places[provider] = {
      ...old,
      byLink: true,
      from: Math.min(old.from, first?.from ?? old.from),
    };
    return;
  }
  const from = claim === 'link' ? (first?.from ?? 0) : world.messages.length;
  world.places[provider] = { token, byLink: claim === 'link', from };
  if (old === undefined) return;
  // The other token lives on where it has another place of its own.
  const hasMore = Object.values(world.places).some((place) => place.token === old.token);
  if (hasMore || world.tokens[old.token]?.standsAlone) return;
  delete world.tokens[old.token];
  if (world.nobody?.token === old.token) world.nobody = null;
}

/** The same for worlds that differ in nothing that matters from now on. */
export function keyOf(world: World): string {
  const names = new Map<number, string>();
  const nameOf = (token: number) => {
    if (!names.has(token)) names.set(token, `${world.tokens[token]?.actor}${names.size}`);
    return names.get(token);
  };
  const places = (['P', 'M'] as const).map((name) => {
    const place = world.places[name];
    return place ? [nameOf(place.token), place.byLink, place.from] : null;
  });
  const nobody = world.nobody && [nameOf(world.nobody.token), world.nobody.from];
  const alone = [...names.keys()].map((token) => world.tokens[token]?.standsAlone);
  const held = (['device', 'user', 'stranger', 'rogue'] as const).map((actor) => {
    const token = world.held[actor];
    return token !== undefined && world.tokens[token] ? nameOf(token) : null;
  });
  const { slots, disabled, ties, messages } = world;
  return JSON.stringify([slots, disabled, [...ties].sort(), messages, places, nobody, alone, held]);
}
