/**
 * The active upstreams: those of the configuration, and those that operators added in the
 * console.
 */

import { lookup } from 'node:dns/promises';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type {
  GivenUpstream,
  ListedFollow,
  ListedUpstreams,
  UpstreamCheck,
  UpstreamDesk,
} from '../call/appliance.ts';
import {
  mergeUpstreams,
  ownUpstreamKeys,
  readUpstream,
  readUpstreamKeys,
  upstreamToml,
} from '../config/upstreams.ts';
import type { Core } from '../core/core.ts';
import { changesOf, followingIn, standingOf } from '../core/follow-standing.ts';
import { hostHash } from '../core/host-name.ts';
import { keepUpstream, removeUpstream } from '../core/kept-upstream.ts';
import { isRefused, type Misfit, malformed, Refused } from '../core/outcome.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import { PANELS } from '../core/panel/kind.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import type { KeptUpstream, UpstreamKeys } from '../core/port/upstream.ts';
import { activityWord } from '../core/status-word.ts';
import { isCertified } from '../doctor/gate.ts';
import { bindUpstreams } from '../http/upstream/bind.ts';
import { warnOfOpenings } from '../http/upstream/openings.ts';
import { checkPanel } from '../http/upstream/panel-check.ts';
import type { Upstream } from '../http/upstream/settings.ts';

/** The time limit of a DNS lookup, ms. */
const LOOKUP_MAX_MS = 3_000;
const DETAIL_LENGTH_MAX = 300;

interface Parts {
  core: Core;
  /** The settings that each request reads; applied upstreams are written here. */
  settings: { gateUpstreams: readonly Upstream[]; readonly host: string; readonly port: number };
  /** The upstreams of the configuration, with their text. */
  own(): { upstreams: readonly Upstream[]; text: string };
  /** The names of the served certificate; null: plain HTTP. */
  certifiedNames(nowMs: number): readonly string[] | null;
  /** The end of that certificate; null: there is none yet. */
  certificateExpiresAtMs(): number | null;
  clock: Clock;
  log: Log;
}

export class LiveUpstreams implements UpstreamDesk {
  /** The upstreams of the database; null: not read yet. */
  #kept: readonly KeptUpstream[] | null = null;
  /** Sessions with a running check. */
  readonly #checking = new Set<number>();
  /** Openings that were logged. */
  readonly #openings = new Set<string>();

  constructor(private readonly parts: Parts) {}

  /** Applies the upstreams of configuration and database, and binds unbound hosts. */
  apply(): Promise<void> {
    const { core, settings, own, clock, log } = this.parts;
    const onMistake = (host: string, reason: string) =>
      log.warn('upstream_not_read', { host, reason });
    settings.gateUpstreams = mergeUpstreams(own().upstreams, this.#kept ?? [], onMistake);
    warnOfOpenings(settings.gateUpstreams, this.#openings, log);
    return bindUpstreams(core, settings.gateUpstreams, clock, log);
  }

  /** Reads the upstreams of the database, which another node may have changed. */
  async refresh(): Promise<void> {
    const kept = await this.parts.core.store.listUpstreams();
    if (JSON.stringify(kept) === JSON.stringify(this.#kept)) return;
    this.#kept = kept;
    await this.apply();
  }

  list = async (): Promise<ListedUpstreams> => {
    const inForce = new Set(this.parts.settings.gateUpstreams.map(({ host }) => host));
    const own = ownUpstreamKeys(this.parts.own().text).map(summaryOf);
    const hosts = new Set(own.map(({ host }) => host));
    const kept = (this.#kept ?? []).map(({ host, settings, updatedAtMs, updatedBy }) => {
      const keys = JSON.parse(settings) as UpstreamKeys;
      const isInForce = inForce.has(host) && !hosts.has(host);
      return { ...summaryOf(keys), keys, updatedAtMs, updatedBy, isInForce };
    });
    const panels = PANELS.map((name) => {
      const { keys, title } = PANEL_TRAITS[name];
      return { name, title, keys: typeof keys === 'string' ? keys : ('signed' as const) };
    });
    return { panels, follows: await this.#follows(), own, kept };
  };

  async #follows(): Promise<ListedFollow[]> {
    const { clock, core, settings } = this.parts;
    const following = followingIn(settings.gateUpstreams);
    const known = following.length === 0 ? [] : await core.store.listFollows();
    return following.map((one) => {
      const follow = known.find(({ host }) => host === one.host) ?? null;
      const { failure = null, pass = null } = follow ?? {};
      return {
        host: one.host,
        standing: standingOf(follow, one, clock.nowMs()),
        pass: pass && {
          atMs: pass.atMs,
          userCount: pass.userCount,
          changeCount: changesOf(pass),
        },
        reason: failure?.reason ?? null,
      };
    });
  }

  check: UpstreamDesk['check'] = async (given, sessionId, nowMs) => {
    const read = upstreamOf(given);
    if (isRefused(read)) return read;
    if (this.#checking.has(sessionId)) return new Refused('too_many_requests');
    this.#checking.add(sessionId);
    try {
      return await this.#look(read, nowMs);
    } finally {
      this.#checking.delete(sessionId);
    }
  };

  async #look({ keys, upstream }: ReadUpstream, nowMs: number): Promise<UpstreamCheck> {
    const { settings } = this.parts;
    const names = this.parts.certifiedNames(nowMs);
    const isCovered = names !== null && isCertified(upstream.host, names);
    const [addresses, panel, binding] = await Promise.all([
      addressesOf(upstream.host),
      checkPanel(upstream, settings),
      this.#bindingOf(upstream),
    ]);
    const certificate = names === null ? 'elsewhere' : isCovered ? 'covered' : 'not_covered';
    const certificateEndsAtMs = isCovered ? this.parts.certificateExpiresAtMs() : null;
    const toml = upstreamToml(keys);
    return { toml, addresses, certificate, certificateEndsAtMs, panel, binding };
  }

  /**
   * Saves an upstream and applies it at once. Refuses as {@link UpstreamDesk} says, and
   * `malformed`.
   */
  put: UpstreamDesk['put'] = async (core, given, isNew, nowMs) => {
    const read = upstreamOf(given);
    if (isRefused(read)) return read;
    const { keys, upstream } = read;
    const { host, provider } = upstream;
    if (this.parts.own().upstreams.some((one) => one.host === host))
      return new Refused('upstream_in_file');
    if ((await core.store.findProvider(provider)) === null) {
      return new Refused('provider_not_found');
    }
    const done = await keepUpstream(core, host, keys, isNew, nowMs);
    await this.refresh();
    return done;
  };

  remove: UpstreamDesk['remove'] = async (core, host, nowMs) => {
    const done = await removeUpstream(core, host, nowMs);
    await this.refresh();
    return done;
  };

  async #bindingOf({ host, provider: code }: Upstream): Promise<UpstreamCheck['binding']> {
    const { store } = this.parts.core;
    const provider = await store.findProvider(code);
    if (provider === null) return 'provider_not_found';
    const domain = await store.findDomain(provider.id, hostHash(host));
    if (domain === null) return 'not_bound';
    return activityWord(domain.status === DOMAIN_ACTIVE);
  }
}

interface ReadUpstream {
  keys: UpstreamKeys;
  upstream: Upstream;
}

/** Reads the fields of the form, and other keys as lines of a file. Returns a misfit. */
function upstreamOf({ keys, more }: GivenUpstream): ReadUpstream | Misfit {
  try {
    const all = { ...keys, ...readUpstreamKeys(more) };
    const upstream = readUpstream(all);
    return { upstream, keys: { ...all, host: upstream.host } };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Keeps plain characters only: a detail is also a header.
    return malformed(error.message.replace(/[^\x20-\x7e]/g, '?').slice(0, DETAIL_LENGTH_MAX));
  }
}

const summaryOf = (keys: UpstreamKeys) => ({
  host: String(keys['host']),
  url: String(keys['url']),
  provider: String(keys['provider']),
  toml: upstreamToml(keys),
});

/** Returns the addresses that this machine finds for a name; none if it finds none in time. */
async function addressesOf(host: string): Promise<string[]> {
  const found = lookup(host, { all: true }).then(
    (all) => all.map(({ address }) => address),
    () => [],
  );
  return Promise.race([found, Bun.sleep(LOOKUP_MAX_MS).then(() => [])]);
}
