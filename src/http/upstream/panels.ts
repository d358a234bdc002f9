/** The panels by host, each with its connections and its queue. */

import type { Log } from '../../base/log.ts';
import { type Leave, type NoPlace, Places } from '../../base/queue.ts';
import { hostHash } from '../../core/host-name.ts';
import { type Path, uuidAt } from '../../core/key-path.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { MinuteLine } from '../bound/limiter.ts';
import { Hosts } from '../request/hosts.ts';
import { UpstreamClient } from './client.ts';
import type { Failure } from './exchange.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

/** Requests that may wait for a panel; each occupies a connection and some kilobytes. */
const WAITING_MAX = 4_000;
/** The part of the places that requests without a slot may take. */
const STRANGERS_SHARE = 3 / 4;

/** Requests after which the keys of a template are judged. */
const KEYS_MIN = 50;
/** The time for which a panel that answered counts as one that answers, ms. */
const ANSWERS_MS = 60_000;

/** A panel; the object lives through changes of its settings. */
export class Panel {
  readonly hash: string;
  readonly #places: Places;
  /** The share of the places for requests that are of no device with its slot. */
  readonly #strangers: Places;
  /** The numbers of users by their names in old tokens: see `askForUser`. */
  readonly userIds = new Map<string, string>();
  client: UpstreamClient;
  readonly #failures = new MinuteLine();
  /** Requests by template, and how many of their keys are UUIDs. */
  readonly #keys = new Map<string, { count: number; uuidCount: number }>();
  /** The steady time of its last response, ms; null: none yet. */
  #answeredAtMs: number | null = null;

  constructor(public upstream: Upstream) {
    this.hash = hostHash(upstream.host);
    this.client = new UpstreamClient(upstream.url);
    const boundsOf = (placesMax: number) => ({
      placesMax,
      placesPerPartyMax: Math.ceil(this.upstream.requestsMax / 2),
      waitingMax: WAITING_MAX,
    });
    this.#places = new Places(() => boundsOf(this.upstream.requestsMax));
    this.#strangers = new Places(() =>
      boundsOf(Math.max(1, Math.floor(this.upstream.requestsMax * STRANGERS_SHARE))),
    );
  }

  /**
   * Waits for a place at the panel, as {@link Places.take} does. A stranger first waits among
   * strangers, so that devices with a slot compete with few of them, however many there are.
   */
  async takePlace(
    client: string,
    isStranger: boolean,
    signal: AbortSignal,
  ): Promise<Leave | NoPlace> {
    if (!isStranger) return this.#places.take(client, signal);
    const leaveStrangers = await this.#strangers.take(client, signal);
    if (typeof leaveStrangers === 'string') return leaveStrangers;
    const leave = await this.#places.take(client, signal);
    if (typeof leave === 'string') {
      leaveStrangers();
      return leave;
    }
    return () => {
      leave();
      leaveStrangers();
    };
  }

  /** Applies changed settings. Requests in flight to another URL continue. */
  change(upstream: Upstream): void {
    this.upstream = upstream;
    if (upstream.url === this.client.url) return;
    this.client = new UpstreamClient(upstream.url);
    this.userIds.clear();
    this.#keys.clear();
  }

  /**
   * Counts a request with a plain key for a panel without a name. Returns the template if nine of
   * ten keys there are UUIDs: the panel may be Hiddify, which takes several spellings of a UUID.
   */
  countKey(path: Path): string | null {
    const { key, keyPaths } = this.upstream;
    if (key !== 'plain' || panelOf(this.upstream) !== null) return null;
    const found = uuidAt(keyPaths, path);
    if (found === null) return null;
    const { template, isFound } = found;
    const before = this.#keys.get(template) ?? { count: 0, uuidCount: 0 };
    const keys = { count: before.count + 1, uuidCount: before.uuidCount + (isFound ? 1 : 0) };
    this.#keys.set(template, keys);
    const isMost = keys.count >= KEYS_MIN && keys.uuidCount * 10 >= keys.count * 9;
    return isFound && isMost ? template : null;
  }

  /** Notes a response of the panel, with any status. */
  noteAnswer(nowMs: number): void {
    this.#answeredAtMs = nowMs;
  }

  /** True if the panel closes the connection on all that it does not know. */
  get dropsAlways(): boolean {
    const kind = panelOf(this.upstream);
    return kind !== null && PANEL_TRAITS[kind].statusOfNoUser === null;
  }

  /**
   * Returns whether a connection that the panel closed without a response means that it does not
   * know the key. Another panel may be away, or speak TLS.
   */
  dropsUnknown(nowMs: number): boolean {
    if (this.dropsAlways) return true;
    return this.#answeredAtMs !== null && nowMs - this.#answeredAtMs < ANSWERS_MS;
  }

  /** Logs that the panel failed, at most once a minute: host and kind, no path. */
  logFailure({ kind, code }: Failure, log: Log, nowMs: number): void {
    const count = this.#failures.due(nowMs);
    if (count > 0) log.warn('upstream_failed', { host: this.upstream.host, kind, code, count });
  }
}

export class Panels {
  #read: UpstreamSettings['gateUpstreams'] = [];
  #byHost = new Map<string, Panel>();
  readonly #hosts = new Hosts();

  constructor(private readonly settings: UpstreamSettings) {}

  /** Returns the panel of the host in a URL; null: it is the host of none. */
  of(url: string): Panel | null {
    const { gateUpstreams } = this.settings;
    if (gateUpstreams !== this.#read) this.#change(gateUpstreams);
    if (gateUpstreams.length === 0) return null;
    // Without a valid Host a URL begins with its path.
    if (url.startsWith('/')) return null;
    const start = url.indexOf('://') + 3;
    const authority = url.slice(start, url.indexOf('/', start));
    return this.#byHost.get(this.#hosts.find(authority)?.name ?? '') ?? null;
  }

  /** Ends all requests in flight. */
  cut(): void {
    for (const { client } of this.#byHost.values()) client.cut();
  }

  /** Closes every connection. */
  close(): void {
    for (const { client } of this.#byHost.values()) client.close();
  }

  #change(upstreams: UpstreamSettings['gateUpstreams']): void {
    const before = this.#byHost;
    this.#read = upstreams;
    this.#byHost = new Map(
      upstreams.map((upstream) => {
        const panel = before.get(upstream.host) ?? new Panel(upstream);
        panel.change(upstream);
        return [upstream.host, panel];
      }),
    );
  }
}
