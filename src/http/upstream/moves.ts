/**
 * Keeps a panel from sending apps to a host that is not the provider's. A header that does is
 * dropped, logged once a day, and noted for the doctor; a line of a body is only noted.
 */

import type { Log } from '../../base/log.ts';
import {
  ALTERNATIVE_HWID,
  hostsOfMove,
  moveNamed,
  movingLines,
  UNREADABLE,
} from '../../core/app-moves.ts';
import { sameUtcDay } from '../../core/calendar.ts';
import type { Core } from '../../core/core.ts';
import { hostHash } from '../../core/host-name.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type { Ways } from '../../core/port/way.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

interface Deps {
  core: Core;
  log: Log;
  settings: Pick<UpstreamSettings, 'gateUpstreams'> & Pick<Ways, 'rideHosts'>;
}

/**
 * Returns the names of headers that move apps. Nearly all responses have none: nothing is copied.
 */
function movesIn(headers: Headers): readonly string[] {
  const found: string[] = [];
  for (const name of headers.keys()) if (moveNamed(name) !== null) found.push(name);
  return found;
}

/** The most things that were logged and are remembered. */
const LOGGED_MAX = 1_000;

export class MoveGuard {
  /** The time of the last line of the log by host, header and target. */
  readonly #logged = new Map<string, number>();

  constructor(private readonly deps: Deps) {}

  /** Drops the headers of a response that send apps to a foreign host. */
  async check(headers: Headers, upstream: Upstream, nowMs: number): Promise<void> {
    const { core } = this.deps;
    const { host } = upstream;
    if (headers.has(ALTERNATIVE_HWID)) {
      core.store.noteSighting({ host, kind: 'alternative_hwid', subject: '' }, nowMs);
    }
    for (const header of movesIn(headers)) {
      const foreign = await this.#foreignIn(headers.get(header) ?? '', upstream);
      if (foreign === null) continue;
      headers.delete(header);
      const subject = `${header} ${foreign}`;
      core.store.noteSighting({ host, kind: 'dropped_header', subject }, nowMs);
      this.#log(`${host} ${subject}`, { host, header, target: foreign }, nowMs);
    }
  }

  /** Notes lines at the head of a body that send apps to a foreign host. */
  async noteLines(head: string, upstream: Upstream, nowMs: number): Promise<void> {
    const { host } = upstream;
    for (const { name, value } of movingLines(head)) {
      const foreign = await this.#foreignIn(value, upstream);
      if (foreign === null) continue;
      const subject = `${name} ${foreign}`;
      this.deps.core.store.noteSighting({ host, kind: 'moving_line', subject }, nowMs);
    }
  }

  /** Returns the first host of a value that is not the provider's; null: there is none. */
  async #foreignIn(value: string, upstream: Upstream): Promise<string | null> {
    for (const host of hostsOfMove(value)) if (!(await this.#isOwn(host, upstream))) return host;
    return null;
  }

  async #isOwn(host: string, { provider: code }: Upstream): Promise<boolean> {
    const { core, settings } = this.deps;
    if (host === UNREADABLE) return false;
    if (settings.gateUpstreams.some((one) => one.host === host)) return true;
    if (settings.rideHosts.includes(host)) return true;
    const provider = await core.store.findProvider(code);
    if (provider === null) return false;
    const binding = await core.store.findDomain(provider.id, hostHash(host));
    return binding?.status === DOMAIN_ACTIVE;
  }

  #log(key: string, fields: Readonly<Record<string, string>>, nowMs: number): void {
    const lastMs = this.#logged.get(key);
    if (lastMs !== undefined && sameUtcDay(lastMs, nowMs)) return;
    if (this.#logged.size >= LOGGED_MAX) this.#logged.clear();
    this.#logged.set(key, nowMs);
    this.deps.log.warn('upstream_header_dropped', fields);
  }
}
