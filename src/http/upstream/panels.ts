/** The panels by their hosts, with the connections to each and the queue before it. */

import { hostHash } from '../../core/host-name.ts';
import type { Log } from '../../log.ts';
import { Places } from '../../queue.ts';
import { MinuteLine } from '../bound/limiter.ts';
import { Hosts } from '../request/hosts.ts';
import { Asker } from './ask.ts';
import type { Failure } from './exchange.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

/** Requests that may wait for one panel; each holds a connection and some kilobytes. */
const WAITING_MAX = 4_000;

/** One panel, through changes of its settings. */
export class Panel {
  readonly hash: string;
  readonly places: Places;
  #asker: Asker;
  readonly #failures = new MinuteLine();

  constructor(public upstream: Upstream) {
    this.hash = hostHash(upstream.host);
    this.#asker = new Asker(upstream.url);
    this.places = new Places(() => {
      const { requestsMax } = this.upstream;
      const placesPerPartyMax = Math.ceil(requestsMax / 2);
      return { placesMax: requestsMax, placesPerPartyMax, waitingMax: WAITING_MAX };
    });
  }

  get asker(): Asker {
    return this.#asker;
  }

  /** Takes other settings up. What is under way at another URL goes on to its end. */
  change(upstream: Upstream): void {
    this.upstream = upstream;
    if (upstream.url !== this.#asker.url) this.#asker = new Asker(upstream.url);
  }

  /** Tells the log that the panel failed: host and kind, no path; a line a minute. */
  logFailure({ kind, code }: Failure, log: Log, nowMs: number): void {
    const count = this.#failures.due(nowMs);
    if (count > 0) log.warn('upstream_failed', { host: this.upstream.host, kind, code, count });
  }
}

/** A text that no URL holds. */
const NOWHERE = ' ';

export class Panels {
  #read: UpstreamSettings['gateUpstreams'] = [];
  #byHost = new Map<string, Panel>();
  readonly #hosts = new Hosts();
  /** Host and port of the last URL that was for no panel, with the slash: those of most. */
  #elsewhere = NOWHERE;

  constructor(private readonly settings: UpstreamSettings) {}

  /** The panel that a request is for by the host in its URL; null: none is. */
  of(url: string): Panel | null {
    const { gateUpstreams } = this.settings;
    if (gateUpstreams !== this.#read) this.#change(gateUpstreams);
    if (gateUpstreams.length === 0) return null;
    // Without a valid Host a URL begins with its path.
    if (url.startsWith('/')) return null;
    const start = url.indexOf('://') + 3;
    if (url.startsWith(this.#elsewhere, start)) return null;
    const authority = url.slice(start, url.indexOf('/', start));
    const panel = this.#byHost.get(this.#hosts.find(authority)?.name ?? '') ?? null;
    if (panel === null) this.#elsewhere = `${authority}/`;
    return panel;
  }

  /** Waits for no answer any more. */
  cut(): void {
    for (const { asker } of this.#byHost.values()) asker.cut();
  }

  /** Closes every connection. */
  close(): void {
    for (const { asker } of this.#byHost.values()) asker.close();
  }

  #change(upstreams: UpstreamSettings['gateUpstreams']): void {
    const before = this.#byHost;
    this.#read = upstreams;
    this.#elsewhere = NOWHERE;
    this.#byHost = new Map(
      upstreams.map((upstream) => {
        const panel = before.get(upstream.host) ?? new Panel(upstream);
        panel.change(upstream);
        return [upstream.host, panel];
      }),
    );
  }
}
