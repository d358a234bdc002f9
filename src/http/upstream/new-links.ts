/**
 * Makes the links of new keys. Before, it asks whether the panel serves made-up keys: while it
 * does, each guess would make a link, and none is made there. Links that exist go on as before.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import { admitNewKey } from '../../core/door.ts';
import { AT_DOOR, type RefusedAtDoor } from '../../core/door-refusals.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import type { AdmittedDevice } from '../../core/port/link.ts';
import { admitNewKeyWithoutHwid } from '../../core/without-hwid.ts';
import { Failure } from './exchange.ts';
import type { WantedSlot } from './forwarding.ts';
import type { PanelFollowers } from './panel-followers.ts';
import type { Panel } from './panels.ts';
import type { Upstream } from './settings.ts';
import { askAsStranger, type StrangerAnswer } from './strangers.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
  panels: Pick<PanelFollowers, 'limits'>;
  /** Asks a panel with made-up keys; null: no answer. */
  servesStrangers(upstream: Upstream): Promise<boolean | null>;
}

/** The last answer of a panel, and until when it holds by the steady clock. */
interface Asked {
  untilMs: number;
  url: string;
  served: Promise<boolean>;
}

type NewLink = AdmittedDevice | RefusedAtDoor | Refused<'install_code_limit_reached'>;

/**
 * Runs `make` unless the client has reached its limit of new links; counts it if the outcome is
 * `isMade`. Null: the limit is reached.
 */
export type LinkLimit = (
  make: () => Promise<NewLink>,
  isMade: (outcome: NewLink) => boolean,
) => Promise<NewLink | null>;

/** The length from which a note shows the beginning of a key: of a shorter one it would be half. */
const TELLING_LENGTH_MIN = 12;

/** The time for which an answer holds, ms; without one the panel is asked sooner. */
const HOLDS_MS = 3_600_000;
const UNKNOWN_HOLDS_MS = 60_000;

export class NewLinks {
  /** By panel: a panel object lives through changes of its settings. */
  readonly #asked = new WeakMap<Panel, Asked>();

  constructor(private readonly deps: Deps) {}

  /**
   * Makes the link of a key that the panel has proved, with the slot of its device. A client could
   * invent keys that the panel accepts, and use up the cap: so the new links of each are limited.
   * Null: the limit is reached.
   */
  make(
    panel: Panel,
    { call, facts, nowMs }: WantedSlot & { isNew: true },
    limit: LinkLimit,
  ): Promise<NewLink | null> {
    const { core, panels } = this.deps;
    const { upstream } = panel;
    const { hwid, subscriptionKey: key } = call;
    const admitNew = hwid === null ? admitNewKeyWithoutHwid : admitNewKey;
    const make = async () => {
      if (await this.areServed(panel)) return AT_DOOR.link_not_found;
      const installLimit = (await panels.limits.of(upstream, key)) ?? upstream.defaultLimit;
      const terms = { installLimit, note: noteOf(upstream.host, key) };
      return admitNew(core, call, terms, facts, nowMs);
    };
    return limit(make, (made) => !isRefused(made) && made.isNew === true);
  }

  /**
   * Returns whether the panel serves strangers; asks at most once an hour, and once a minute while
   * it gives no answer.
   */
  async areServed(panel: Panel): Promise<boolean> {
    const { upstream } = panel;
    const nowMs = this.deps.clock.steadyMs();
    const last = this.#asked.get(panel);
    if (last !== undefined && last.url === upstream.url && nowMs < last.untilMs) {
      return last.served;
    }
    const asked: Asked = {
      untilMs: nowMs + HOLDS_MS,
      url: upstream.url,
      served: this.#ask(upstream, () => {
        asked.untilMs = nowMs + UNKNOWN_HOLDS_MS;
      }),
    };
    this.#asked.set(panel, asked);
    return asked.served;
  }

  async #ask(upstream: Upstream, onUnknown: () => void): Promise<boolean> {
    const { clock, core, log, servesStrangers } = this.deps;
    const isServed = await servesStrangers(upstream);
    if (isServed === null) onUnknown();
    if (!isServed) return false;
    const { host } = upstream;
    log.warn('upstream_serves_strangers', { host });
    core.store.noteSighting({ host, kind: 'stranger_served', subject: '' }, clock.nowMs());
    return true;
  }
}

/**
 * Returns true if a response of the panel to a made-up key would make a link; null: none would, and
 * some did not come. The panel has the time that it has for customers: one that serves guesses
 * slowly serves them too.
 */
export async function servesStrangers(upstream: Upstream): Promise<boolean | null> {
  const answers = await askAsStranger(upstream, upstream.timeoutMs);
  if (answers.some(({ makesLink }) => makesLink)) return true;
  const isAnswered = ({ outcome }: StrangerAnswer) =>
    !(outcome instanceof Failure) || outcome.isDropped;
  return answers.every(isAnswered) ? false : null;
}

/** Makes the note of a new link: the user of a panel, or a part of the key too short to use. */
function noteOf(host: string, key: string): string {
  const user = key.slice(key.lastIndexOf('/') + 1);
  if (user !== key) return `${host} ${user}`;
  const characters = [...key];
  const isLong = characters.length >= TELLING_LENGTH_MIN;
  const beginning = isLong ? ` ${characters.slice(0, 4).join('')}…` : '';
  return `${host}${beginning}`;
}
