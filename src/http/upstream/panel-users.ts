/**
 * Follows users of panels at the door: notes the user of a link once the panel proved its key, and
 * enables links that an import disabled once the panel's API says that their users are active.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { actingAs, type Core } from '../../core/core.ts';
import { enableImported } from '../../core/link.ts';
import { PANEL } from '../../core/panel/actor.ts';
import type { PanelApiUser } from '../../core/panel/api.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { isDisabledByImport, isProvedBy, provedTie } from '../../core/panel/proof.ts';
import { panelApiUser, panelUserName } from '../../core/panel/user.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { reportFault } from '../interpreter.ts';
import { Answers, type PanelApi, remember } from './panel-api.ts';
import { type PanelApis, perApi } from './panel-apis.ts';
import { type PanelSource, sourceOf } from './panel-source.ts';
import type { Upstream } from './settings.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
  apis: PanelApis;
}

/** The time for which the state of a user holds, ms. */
const STATE_HOLDS_MS = 60_000;

type UserState = Pick<PanelApiUser, 'id' | 'isActive' | 'endsAtMs'>;

export class PanelUsers {
  /** Links whose tie is noted, by host and key, the oldest first. */
  readonly #noted = new Map<string, true>();
  readonly #states = perApi(
    (api) =>
      new Answers<UserState | 'gone'>(
        ...([api, this.deps.clock, STATE_HOLDS_MS] as const),
        async ({ ask }, key) => {
          const { panel, panelAdmin } = api.source;
          return stateOf(await panelApiUser(panel, key, ask, panelAdmin));
        },
      ),
  );

  constructor(private readonly deps: Deps) {}

  /**
   * Enables the link of a key if an import disabled it and the panel's API says that its user is
   * active. Returns whether the link must be judged again. A 2xx of the panel would prove nothing:
   * Marzban answers so to disabled users.
   */
  async comesBack(source: PanelSource, providerId: number, key: string): Promise<boolean> {
    const { core, clock, apis } = this.deps;
    const states = this.#states(apis.of(source));
    if (!states.isDue(key) && !isActive(states.last(key))) return false;
    const link = await core.store.findTiedLink(providerId, subscriptionKeyHash(key));
    if (link === null || !isDisabledByImport(link.status, link.facts)) return false;
    if (!isProvedBy(source.panel, link)) return false;
    if (!isActive(await states.of(key))) return false;
    const asPanel = actingAs(core, () => PANEL);
    // Another request may have enabled it first.
    await enableImported(asPanel, { providerId, id: link.id }, clock.nowMs());
    return true;
  }

  /**
   * Notes the user of a link after a 200 of the panel proved its key, without delaying the request.
   * Only the API knows the ids of some panels: then it is asked.
   */
  noteLater(upstream: Upstream, providerId: number, key: string, onNoted: () => void): void {
    const name = `${upstream.host}\n${key}`;
    if (this.#noted.has(name) || panelOf(upstream) === null) return;
    const report = (fault: unknown) => {
      reportFault(this.deps.log, 'upstream', fault, crypto.randomUUID());
    };
    remember(this.#noted, name, true);
    const noting = this.#note(upstream, providerId, key).then((outcome) => {
      if (outcome === 'unknown') this.#noted.delete(name);
      if (outcome === 'noted') onNoted();
    });
    noting.catch((fault) => {
      this.#noted.delete(name);
      report(fault);
    });
  }

  /** Remembers what the API said about the user of a key when it was asked for the limit. */
  learn(api: PanelApi, key: string, user: UserState | null): void {
    this.#states(api).learn(key, stateOf(user));
  }

  /** Returns the end of the user of a key, ms, as the API last said it; null: it is not known. */
  endOf(upstream: Upstream, key: string): number | null {
    const source = sourceOf(upstream);
    const state = source && this.#states(this.deps.apis.of(source)).last(key);
    return state === null || state === 'gone' ? null : state.endsAtMs;
  }

  /** Forgets that the user of a link is noted: its provider changed the key. */
  forget({ host }: Upstream, key: string): void {
    this.#noted.delete(`${host}\n${key}`);
  }

  async #note(
    upstream: Upstream,
    providerId: number,
    key: string,
  ): Promise<'noted' | 'same' | 'unknown'> {
    const { store } = this.deps.core;
    const panel = panelOf(upstream);
    if (panel === null) return 'same';
    const keyHash = subscriptionKeyHash(key);
    const link = await store.findTiedLink(providerId, keyHash);
    if (link === null || isProvedBy(panel, link)) return 'same';
    const id = await this.#idOf(upstream, key);
    if (id === undefined) return 'unknown';
    const panelUser = panelUserName(panel, id, key);
    if (provedTie(link, panelUser) === null) return 'same';
    return (await store.notePanelUser(providerId, keyHash, panelUser)) ? 'noted' : 'same';
  }

  /** Returns the id of the user of a key, null if the key is the id; undefined: unknown. */
  async #idOf(upstream: Upstream, key: string): Promise<string | null | undefined> {
    const panel = panelOf(upstream);
    const id = panel === null ? undefined : PANEL_TRAITS[panel].api.idIn(key);
    const source = sourceOf(upstream);
    if (id !== undefined || source === null) return id;
    const states = this.#states(this.deps.apis.of(source));
    const last = states.last(key);
    const state = last === null || last === 'gone' ? await states.of(key) : last;
    return state === null || state === 'gone' ? undefined : state.id;
  }
}

/** Keeps of a user what the door needs. */
function stateOf(user: UserState | null): UserState | 'gone' {
  if (user === null) return 'gone';
  const { endsAtMs, id, isActive } = user;
  return { id, isActive, endsAtMs };
}

const isActive = (state: UserState | 'gone' | null): boolean =>
  state !== null && state !== 'gone' && state.isActive;
