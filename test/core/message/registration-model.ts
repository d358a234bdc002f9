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
  | { op: 'call'; provider: ProviderName }
  /** The actor shows its token. */
  | { op: 'show'; actor: ActorName }
  /** More days pass than a token may be idle. */
  | { op: 'wait' }
  /** A newcomer needs the slot, which the link's policy frees. */
  | { op: 'pushOut'; link: LinkName; why: 'inactive' | 'replaced'; door: 'fetch' | 'register' }
  /** The operator forgets the device, or removes a provider. */
  | { op: 'forget' }
  | { op: 'remove'; provider: ProviderName };

/** Days of `wait`: a newcomer pushes a slot out three days after the day of the world. */
export const WAIT_DAYS = 40;

export const PROVIDER_OF: Readonly<Record<LinkName, ProviderName>> = {
  own: 'P',
  others: 'P',
  ofM: 'M',
};

export interface Place {
  /** Null: it ended with its last slot, on `endedDay`. */
  token: number | null;
  endedDay: number;
  /** The link by which it was claimed. */
  link: LinkName | null;
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
  tokens: Record<number, { actor: ActorName; standsAlone: boolean; seenDay: number }>;
  /** The token that each of them has, good or not. */
  held: Partial<Record<ActorName, number>>;
  messages: { provider: ProviderName; isUnbound: boolean }[];
  tokenCount: number;
  day: number;
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
  day: 0,
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
  if (op.op === 'wait') {
    after.day += WAIT_DAYS;
  } else if (op.op === 'show') {
    see(after, after.held[op.actor]);
  } else if (op.op === 'remove') {
    remove(after, op.provider);
  } else if (op.op === 'pushOut') {
    if (!after.disabled.includes(op.link)) leave(after, op.link);
  } else if (op.op === 'forget') {
    const { disabled, day, messages, tokenCount, held } = after;
    return {
      after: { ...NEW_WORLD, disabled, day, messages, tokenCount, held },
      says: 'ok',
      cell: null,
    };
  } else if (op.op === 'send') {
    after.messages.push({ provider: op.provider, isUnbound: !isLinked(after, op.provider) });
  } else if (op.op === 'call') {
    tie(after, op.provider);
  } else if (op.op === 'toggle') {
    after.disabled = after.disabled.includes(op.link)
      ? after.disabled.filter((link) => link !== op.link)
      : [...after.disabled, op.link];
  } else if (op.op === 'leave') {
    leave(after, op.link);
  } else if (!after.disabled.includes(op.link)) {
    takeSlot(after, op.link);
  }
  return { after, says: 'ok', cell: null };
}

function takeSlot(world: World, link: LinkName): void {
  if (world.slots.some((slot) => slot.link === link)) return;
  world.slots.push({ link, from: world.messages.length });
}

/** What was for the slot that ends is not for those behind it, unless one of them claimed. */
function leave(world: World, link: LinkName): void {
  const at = world.slots.findIndex((slot) => slot.link === link);
  if (at < 0) return;
  world.slots = world.slots.flatMap((slot, n) => {
    if (n === at) return [];
    const isBehind = n > at && PROVIDER_OF[slot.link] === PROVIDER_OF[link];
    const place = world.places[PROVIDER_OF[link]];
    const isFree = place === undefined || place.link === null;
    return isBehind && isFree ? { ...slot, from: world.messages.length } : slot;
  });
  const provider = PROVIDER_OF[link];
  const place = world.places[provider];
  if (place === undefined || place.token === null) return;
  const isItsSlot = place.link === null || place.link === link;
  if (isItsSlot || slotsAt(world, provider).length === 0) endUnlessAlive(world, place.token);
}

/** A place lives by a slot of the device, or by the binding that claimed it. */
export function livesAt(world: World, provider: ProviderName): boolean {
  const isByBinding = world.places[provider]?.link === null;
  return slotsAt(world, provider).length > 0 || (isByBinding && world.ties.includes(provider));
}

/** A token that has no living place ends; its places stay claimed for a while. */
function endUnlessAlive(world: World, token: number): void {
  const own = Object.entries(world.places).filter(([, place]) => place.token === token);
  if (own.some(([provider]) => livesAt(world, provider as ProviderName))) return;
  for (const [, place] of own) Object.assign(place, { token: null, endedDay: world.day });
  delete world.tokens[token];
  if (world.nobody?.token === token) world.nobody = null;
}

function remove(world: World, provider: ProviderName): void {
  world.slots = world.slots.filter(({ link }) => PROVIDER_OF[link] !== provider);
  world.ties = world.ties.filter((tied) => tied !== provider);
  const gone = { provider, isUnbound: false };
  world.messages = world.messages.map((message) =>
    message.provider === provider ? gone : message,
  );
  const place = world.places[provider];
  delete world.places[provider];
  if (place !== undefined && place.token !== null) endUnlessAlive(world, place.token);
}

/** The token lives on where it has another place of its own. */
function lose(world: World, token: number): void {
  const hasMore = Object.values(world.places).some((place) => place.token === token);
  if (hasMore || world.tokens[token]?.standsAlone) return;
  delete world.tokens[token];
  if (world.nobody?.token === token) world.nobody = null;
}

function see(world: World, token: number | undefined): void {
  const good = token === undefined ? undefined : world.tokens[token];
  if (good !== undefined) good.seenDay = world.day;
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
  const at = provider === null ? null : (world.places[provider] ?? null);
  const found = provider === null ? world.nobody : at;
  const isIdle = found !== null && world.day - seenDayOf(world, found) > 30;
  // A place whose token ended is free for a binding after a while.
  const place = found?.token === null && isIdle && shown.by === 'binding' ? null : found;
  const isOwn = held !== null && (provider === null || place?.token === held);
  const claim = claimOf(shown, first ? first.link : null, at, isIdle && !isOwn);
  const cell = `${claim}, ${isOwn ? 'own' : place ? 'another' : 'free'}`;

  if (!isOwn) {
    if (claim === 'later') return refused('registration_refused', cell);
    const moves = claim === 'link' && (at?.link !== null || isIdle);
    if (place && !moves) return refused('registration_refused', cell);
  }
  const token = held ?? world.tokenCount;
  if (held === null) {
    world.tokenCount += 1;
    world.tokens[token] = { actor, standsAlone: shown.by === 'nothing', seenDay: world.day };
  }
  see(world, token);
  world.held[actor] = token;
  const link = shown.by === 'link' ? shown.link : null;
  const wasOnClaim = world.slots.some((slot) => slot.link === at?.link);
  if (link !== null) takeSlot(world, link);
  if (shown.by === 'binding') tie(world, shown.provider);
  if (provider !== null && isOwn) keep(world, provider, link, claim, wasOnClaim);
  else if (provider !== null) take(world, provider, token, link);
  world.nobody ??= { token, from: world.messages.length };
  return { after: world, says: 'ok', cell };
}

/** The day by which a place is idle: its token was shown then, or ended. */
export const seenDayOf = (world: World, place: { token: number | null; endedDay?: number }) =>
  place.token === null ? (place.endedDay ?? 0) : (world.tokens[place.token]?.seenDay ?? 0);

/** A link speaks for the place that it claimed; the first one for what no living link claimed. */
function claimOf(
  shown: ShownModel,
  first: LinkName | null,
  place: Place | null,
  isIdle: boolean,
): string {
  if (shown.by === 'nothing') return 'nothing';
  if (shown.by === 'binding') return first === null ? 'binding' : 'later';
  if (place?.link === shown.link) return 'link';
  if (place?.link && !isIdle) return 'later';
  return first === null || first === shown.link ? 'link' : 'later';
}

function keep(
  world: World,
  provider: ProviderName,
  link: LinkName | null,
  claim: string,
  wasOnClaim: boolean,
): void {
  const old = world.places[provider];
  if (old === undefined || link === null || (claim === 'later' && wasOnClaim)) return;
  const from = world.slots.find((slot) => slot.link === link)?.from ?? old.from;
  const isFirstClaim = claim === 'link' && old.link === null;
  world.places[provider] = {
    ...old,
    link,
    from: isFirstClaim ? Math.min(old.from, from) : old.from,
  };
}

function take(world: World, provider: ProviderName, token: number, link: LinkName | null): void {
  const old = world.places[provider];
  const sinceSlot = world.slots.find((slot) => slot.link === link)?.from ?? 0;
  const fromNow = world.messages.length;
  let from = link === null ? fromNow : sinceSlot;
  if (old?.link === link) from = Math.max(from, old?.from ?? 0);
  // By age: later messages alone.
  else if (old !== undefined) from = fromNow;
  world.places[provider] = { token, endedDay: 0, link, from };
  if (old !== undefined && old.token !== null) lose(world, old.token);
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
    if (place === undefined) return null;
    const { token, link, from } = place;
    const isOver = token === null && world.day - place.endedDay > 30;
    return [token === null ? isOver : nameOf(token), link, from];
  });
  const nobody = world.nobody && [nameOf(world.nobody.token), world.nobody.from];
  const alone = [...names.keys()].map((token) => {
    const good = world.tokens[token];
    return [good?.standsAlone, good && world.day - good.seenDay > 30];
  });
  const held = (['device', 'user', 'stranger', 'rogue'] as const).map((actor) => {
    const token = world.held[actor];
    return token !== undefined && world.tokens[token] ? nameOf(token) : null;
  });
  const { slots, disabled, ties, messages } = world;
  return JSON.stringify([slots, disabled, [...ties].sort(), messages, places, nobody, alone, held]);
}
