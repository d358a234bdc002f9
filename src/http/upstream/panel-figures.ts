/**
 * Reads figures of subscriptions from the APIs of panels, at most once an hour and link, only for
 * links whose keys the panel proved, and without delaying a request.
 */

import type { Clock } from '../../base/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/calendar.ts';
import type { Core } from '../../core/core.ts';
import type { PanelApiUser } from '../../core/panel/api.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import { panelApiUser } from '../../core/panel/user.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import type { Figures } from '../../core/port/subscription-figures.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { plausible } from '../../core/subscription-figures.ts';
import type { FiguresNotes } from './figures.ts';
import { Answers, type PanelApi, remember } from './panel-api.ts';
import { type PanelApis, perApi } from './panel-apis.ts';
import type { PanelSource } from './panel-source.ts';

interface Deps {
  core: Core;
  clock: Clock;
  apis: PanelApis;
  notes: FiguresNotes;
}

/** A link by its key; `isProven`: the panel signed the token that named it. */
interface KeyedLink {
  link: AdmittedLink;
  key: string;
  isProven?: boolean;
}

export class PanelFigures {
  /** Figures as they came; `gone`: the panel has no such user. */
  readonly #answers = perApi(
    (api) =>
      new Answers<Figures | 'gone'>(
        ...([api, this.deps.clock, HOUR_MS] as const),
        async ({ ask }, key) => {
          const { panel, panelAdmin } = api.source;
          return figuresOf(await panelApiUser(panel, key, ask, panelAdmin));
        },
      ),
  );
  /** Steady times from which links are read again, by id, the oldest first. */
  readonly #nextMs = new Map<number, number>();

  constructor(private readonly deps: Deps) {}

  /** Remembers what the API said about the user of a key when it was asked for the limit. */
  learn(api: PanelApi, key: string, user: PanelApiUser | null): void {
    this.#answers(api).learn(key, figuresOf(user));
  }

  /** Returns whether the figures of a link are to be read now. */
  isDue(link: AdmittedLink): boolean {
    if (this.deps.notes.mayKeep(link) === false) return false;
    return this.deps.clock.steadyMs() >= (this.#nextMs.get(link.installId) ?? 0);
  }

  /** Reads the figures of a link, and notes them. */
  async read(source: PanelSource, of: KeyedLink): Promise<void> {
    const { clock, notes } = this.deps;
    const { link, key } = of;
    if (!this.isDue(link)) return;
    // Another request for the link does not ask meanwhile; nor does one after a failure.
    this.#wait(link, MINUTE_MS);
    if (!(await notes.keeps(link)) || !(await this.#isProved(source, of))) return;
    const said = await this.#answers(this.deps.apis.of(source)).of(key);
    if (said === null) return;
    this.#wait(link, HOUR_MS);
    if (said !== 'gone') await notes.note(link, plausible(said, clock.nowMs()), 'panel');
  }

  #wait({ installId }: AdmittedLink, ms: number): void {
    remember(this.#nextMs, installId, this.deps.clock.steadyMs() + ms);
  }

  /** A provider may type the key of another's customer. */
  async #isProved(source: PanelSource, { link, key, isProven }: KeyedLink): Promise<boolean> {
    if (isProven) return true;
    const { store } = this.deps.core;
    const tied = await store.findTiedLink(link.providerId, subscriptionKeyHash(key));
    return tied?.id === link.installId && isProvedBy(source.panel, tied);
  }
}

/** Keeps of a user the figures alone. */
function figuresOf(user: PanelApiUser | null): Figures | 'gone' {
  if (user === null) return 'gone';
  const { endsAtMs, totalBytes, usedBytes } = user;
  return { endsAtMs, totalBytes, usedBytes };
}
