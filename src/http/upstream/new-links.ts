/**
 * Asks whether a panel serves made-up keys, before a new link is made. While it does, each guess
 * would make a link: then none is made there. Links that exist go on as before.
 */

import type { Clock } from '../../clock.ts';
import type { Core } from '../../core/core.ts';
import type { Log } from '../../log.ts';
import type { Panel } from './panels.ts';
import type { Upstream } from './settings.ts';
import { askAsStranger } from './strangers.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
  /** Asks a panel with made-up keys. */
  servesStrangers(upstream: Upstream): Promise<boolean>;
}

/** The time for which an answer holds, ms. */
const HOLDS_MS = 3_600_000;

export class NewLinks {
  /** By panel: a panel object lives through changes of its settings. */
  readonly #asked = new WeakMap<Panel, { atMs: number; url: string; served: Promise<boolean> }>();

  constructor(private readonly deps: Deps) {}

  /** Returns whether the panel serves strangers; asks at most once an hour. */
  async areServed(panel: Panel): Promise<boolean> {
    const { upstream } = panel;
    const nowMs = this.deps.clock.steadyMs();
    const last = this.#asked.get(panel);
    if (last !== undefined && last.url === upstream.url && nowMs - last.atMs < HOLDS_MS) {
      return last.served;
    }
    const served = this.#ask(upstream);
    this.#asked.set(panel, { atMs: nowMs, url: upstream.url, served });
    return served;
  }

  async #ask(upstream: Upstream): Promise<boolean> {
    const { clock, core, log, servesStrangers } = this.deps;
    if (!(await servesStrangers(upstream))) return false;
    const { host } = upstream;
    log.warn('upstream_serves_strangers', { host });
    core.store.noteSighting({ host, kind: 'stranger_served', subject: '' }, clock.nowMs());
    return true;
  }
}

/** Returns true if an answer of the panel to a made-up key would make a link. */
export const servesStrangers = async (upstream: Upstream): Promise<boolean> =>
  (await askAsStranger(upstream)).some(({ makesLink }) => makesLink);
