/**
 * The headers that ride on one answer: read once for each change at a provider, rendered once for
 * each language.
 */

import { appOf } from '../app/find.ts';
import type { App } from '../app/record.ts';
import { remembering } from '../memo.ts';
import { fillMessage, isFilled, isUntrue, withoutFigures } from '../message/filling.ts';
import type { DeviceFacts } from '../port/device.ts';
import type { FillStore, LinkFacts } from '../port/fill.ts';
import type { AdmittedDevice } from '../port/link.ts';
import { after, type Maybe } from '../port/maybe.ts';
import type {
  Buttons,
  DoorRides,
  ProviderRides,
  Ride,
  RideLevel,
  RideStore,
} from '../port/ride.ts';
import type { Figures } from '../port/subscription-figures.ts';
import { type DueRide, dueRides, lowerLevel } from './due.ts';
import { type Carriage, type Riding, rideHeaders } from './headers.ts';
import type { RidingPayload } from './parts.ts';

/** The operator's terms for one upstream or the gate. */
export interface RideWay {
  readonly level: RideLevel;
  /** The Provider ID of Happ; null: none. */
  readonly providerId: string | null;
  /** Hosts that a command may move subscriptions to; a new array after each change. */
  readonly hosts: readonly string[];
}

/** An admitted device, and the languages of its user. */
export interface Fetch {
  link: AdmittedDevice;
  /** True: the device stands for all apps of the link without a HWID. */
  isShared: boolean;
  languages(): readonly string[];
  /** Returns the figures in the answer, which are newer than those that are kept; null: none. */
  figures?(): Figures | null;
}

/** The additions to the panel's answer. */
export interface Riders extends Carriage {
  /** The app; null: an unknown one. */
  readonly app: string | null;
  /** False: no message rides and none is cleared. */
  readonly isDue: boolean;
  readonly buttons: Buttons;
  /** True: the buttons replace those of the panel. */
  readonly buttonsAlways: boolean;
  /** True: if no other page is set, the button opens the page of the link. */
  readonly hasMy: boolean;
  /** True: an app that asks finds the server of messages by its subscription. */
  readonly hasDiscovery: boolean;
  /** True: that page shows figures of the subscription, where there is a proof for it. */
  readonly hasFigures: boolean;
  /** True: the button of that page replaces the panel's, which sends one with each answer. */
  readonly replacesPage?: true;
}

interface ParsedRide extends Ride {
  readonly parsed: RidingPayload;
}

/** The rides to all devices of a provider, and their renderings. */
interface Known extends Omit<ProviderRides, 'rides'> {
  readonly rides: readonly ParsedRide[];
  /** The number of characters in the messages. */
  readonly size: number;
  readonly rendered: Map<string, Carriage>;
  hosts: readonly string[];
}

/** The answer that rides are added to. */
interface Answered {
  fetch: Fetch;
  facts: DeviceFacts;
  way: RideWay;
  known: Known;
  /** True: the texts are those of the link, which no other answer may have. */
  isFilled?: boolean;
}

/** The most characters of cached messages, of all providers together. */
const SIZE_MAX = 16 * 1024 * 1024;
/** The most providers in the cache. */
const PROVIDERS_MAX = 4_096;
/** The most renderings of a provider in the cache: callers choose their languages. */
const RENDERED_MAX = 256;
/** The most renderings in the cache over all providers; each takes about 4 KB. */
const RENDERED_ALL_MAX = 8_192;
/** The longest key of a cached rendering. */
const KEY_LENGTH_MAX = 512;

/** Returns the app of a `User-Agent`. */
const appBy = remembering(1_024, (userAgent) => ({ app: appOf(userAgent) }));

const NOTHING: Carriage = { headers: {}, announceText: null, carried: [] };
const NO_BUTTONS: Buttons = { supportUrl: null, webPageUrl: null };

/** Finds and renders the headers that ride. */
export class Rides {
  /** By provider, the least recently read first. */
  readonly #known = new Map<number, Known>();
  readonly #reading = new Map<number, Promise<Known>>();
  #size = 0;
  /** Renderings since the cache was emptied. */
  #renderedCount = 0;

  constructor(
    private readonly store: Pick<RideStore, 'findNamedRides' | 'findRides'> &
      Pick<FillStore, 'findLinkFacts'>,
  ) {}

  /** Returns the additions to the answer to a fetch; null: none. */
  on(fetch: Fetch, way: RideWay, nowMs: number): Maybe<Riders | null> {
    const { facts, isNew, providerId, rides: door } = fetch.link;
    if (facts === undefined || (door === undefined ? !isNew : isOver(door, nowMs))) return null;
    return after(this.#of(providerId, door?.version), (known) => {
      const level = lowerLevel(way.level, known.ride);
      const isHome = !fetch.isShared && door !== undefined && door.homeSinceMs !== null;
      const isNamed = level !== 'off' && isHome && nowMs < door.namedUntilMs;
      const named = isNamed ? this.#named(door, providerId) : [];
      return after(named, (own) => {
        const device = { os: facts.os, homeSinceMs: isHome ? door.homeSinceMs : null };
        const terms = { level, ridesOnDesktop: known.ridesOnDesktop };
        const due = dueRides([...own, ...known.rides], device, terms, nowMs);
        const of = { fetch, facts, way, known };
        if (!due.some(({ phase, ride }) => phase === 'rides' && asksToFill(ride))) {
          return this.#ridersOf(due, of);
        }
        // The link that the answer is for: the address of another one shows nothing of its own.
        return after(this.store.findLinkFacts(fetch.link.installId), (found) => {
          const shown = fetch.isShared ? withoutFigures(found) : nowSaid(found, fetch, nowMs);
          return this.#ridersOf(filled(due, shown, nowMs), { ...of, isFilled: true });
        });
      });
    });
  }

  #ridersOf(due: readonly DueRide<ParsedRide>[], of: Answered): Riders | null {
    const { fetch, facts, known } = of;
    const ofLink = fetch.link.rides ?? NO_BUTTONS;
    const buttons = {
      supportUrl: ofLink.supportUrl ?? known.supportUrl,
      webPageUrl: ofLink.webPageUrl ?? known.webPageUrl,
    };
    const isDue = due.length > 0;
    const { buttonsAlways, hasDiscovery, hasFigures, hasMy } = known;
    const isBare = buttons.supportUrl === null && buttons.webPageUrl === null;
    if (!isDue && isBare && !hasMy && !hasDiscovery) return null;
    const { app } = appBy(facts.userAgent);
    const carriage = isDue ? this.#carriage(due, app, of) : NOTHING;
    const terms = { buttons, buttonsAlways, hasMy, hasDiscovery, hasFigures };
    return { ...carriage, app: app?.name ?? null, isDue, ...terms };
  }

  #carriage(
    due: readonly DueRide<ParsedRide>[],
    app: App | null,
    { fetch, isFilled: isOwn = false, way, known }: Answered,
  ): Carriage {
    const languages = fetch.languages();
    const { hosts, providerId } = way;
    const render = () => rideHeaders(due.map(ridingOf), { app, languages, providerId, hosts });
    if (isOwn) return render();
    if (known.hosts !== hosts) {
      known.rendered.clear();
      known.hosts = hosts;
    }
    const names = due.map(({ ride, phase }) => `${ride.distributionId} ${ride.part} ${phase}`);
    const key = [app?.name, providerId, ...languages, '', ...names].join('\n');
    const found = known.rendered.get(key);
    if (found !== undefined) return found;
    const carriage = render();
    if (key.length > KEY_LENGTH_MAX) return carriage;
    if (known.rendered.size >= RENDERED_MAX) known.rendered.clear();
    if (this.#renderedCount >= RENDERED_ALL_MAX) {
      for (const { rendered } of this.#known.values()) rendered.clear();
      this.#renderedCount = 0;
    }
    this.#renderedCount += 1;
    known.rendered.set(key, carriage);
    return carriage;
  }

  #named({ deviceId }: DoorRides, providerId: number): Maybe<readonly ParsedRide[]> {
    if (deviceId === null) return [];
    return after(this.store.findNamedRides(deviceId, providerId), parsed);
  }

  /** Returns the rides to all devices of a provider; `version` undefined: any version will do. */
  #of(providerId: number, version: number | undefined): Maybe<Known> {
    const known = this.#known.get(providerId);
    if (known !== undefined && known.version === version) return known;
    const running = this.#reading.get(providerId);
    if (running !== undefined && version !== undefined) {
      // The running read may have begun before the change that the door has seen.
      return running.then((read) =>
        read.version >= version ? read : this.#of(providerId, version),
      );
    }
    const read = after(this.store.findRides(providerId), (found) => this.#keep(providerId, found));
    if (!(read instanceof Promise)) return read;
    this.#reading.set(providerId, read);
    const end = () => void this.#reading.delete(providerId);
    read.then(end, end);
    return read;
  }

  #keep(providerId: number, found: ProviderRides): Known {
    const rides = parsed(found.rides);
    const size = found.rides.reduce((sum, { payload }) => sum + payload.length, 0);
    const known = { ...found, rides, size, rendered: new Map(), hosts: [] };
    this.#size += size - (this.#known.get(providerId)?.size ?? 0);
    this.#known.delete(providerId);
    this.#known.set(providerId, known);
    for (const [id, { size }] of this.#known) {
      if (this.#size <= SIZE_MAX && this.#known.size <= PROVIDERS_MAX) break;
      this.#known.delete(id);
      this.#size -= size;
    }
    return known;
  }
}

/** Returns true if all rides have ended and the link has no button: nothing must be read. */
const isOver = ({ untilMs, namedUntilMs, supportUrl, webPageUrl }: DoorRides, nowMs: number) =>
  nowMs >= untilMs && nowMs >= namedUntilMs && (supportUrl ?? webPageUrl) === null;

/** Returns the facts of a link with the figures of the answer itself, if figures are kept. */
function nowSaid(facts: LinkFacts | null, { figures }: Fetch, nowMs: number): LinkFacts | null {
  const said = facts?.readAtMs == null ? null : (figures?.() ?? null);
  return facts && said ? { ...facts, ...said, readAtMs: nowMs } : facts;
}

/** Parses each message once. */
function parsed(rides: readonly Ride[]): ParsedRide[] {
  const byId = new Map<number, RidingPayload>();
  return rides.map((ride) => {
    const { distributionId, payload } = ride;
    const before = byId.get(distributionId) ?? (JSON.parse(payload) as RidingPayload);
    byId.set(distributionId, before);
    return { ...ride, parsed: before };
  });
}

const asksToFill = ({ notificationType, parsed }: ParsedRide) =>
  isFilled({ notificationType, payload: parsed });

/** Fills the texts of rides with the facts of a link; a reminder that is not true is cleared. */
const filled = (
  due: readonly DueRide<ParsedRide>[],
  facts: LinkFacts | null,
  nowMs: number,
): DueRide<ParsedRide>[] =>
  due.map(({ ride, phase }) => {
    const { notificationType, parsed: payload } = ride;
    const message = { notificationType, payload };
    const { payload: parsed } = fillMessage(message, facts, nowMs);
    const isRiding = phase === 'rides' && !isUntrue(message, facts, nowMs);
    return { phase: isRiding ? 'rides' : 'clears', ride: { ...ride, parsed } };
  });

const ridingOf = ({ ride, phase }: DueRide<ParsedRide>): Riding => ({
  distributionId: ride.distributionId,
  part: ride.part,
  payload: ride.parsed,
  phase,
});
