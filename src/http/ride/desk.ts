/** Reads what rides on answers, for the proxy and for `/gate`. */

import { type Log, reasonOf } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import type { PanelKind } from '../../core/panel/kind.ts';
import type { AdmittedDevice } from '../../core/port/link.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Figures } from '../../core/port/subscription-figures.ts';
import type { Way, Ways } from '../../core/port/way.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import { type Riders, Rides } from '../../core/ride/riding.ts';
import { MinuteLine } from '../bound/limiter.ts';
import { type Carried, stampsOf } from './answer.ts';

/** Settings that are read for each request, so that a change applies at once. */
export type RideSettings = Pick<Ways, 'rideHosts'>;

interface DeskDeps {
  core: Core;
  log: Log;
  settings: RideSettings;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf: (file: string) => string | null;
}

/** An admitted request. */
export interface AdmittedFetch {
  request: Request;
  link: AdmittedDevice;
  /** True: the app sends no HWID, and shares a slot with apps of its kind. */
  isShared: boolean;
  /** True: the address of the request names the link by itself, without an answer of the panel. */
  namesLink: boolean;
  /** Returns the figures in the panel's answer; null: it has none. Absent: it is not known. */
  figures?: () => Figures | null;
  /** Returns the address of the page of the link, which may show figures; null: there is none. */
  myUrl(link: AdmittedDevice, showsFigures: boolean): Maybe<string | null>;
}

export class RideDesk {
  readonly #rides: Rides;
  readonly #failures = new MinuteLine();

  constructor(private readonly deps: DeskDeps) {
    this.#rides = new Rides(deps.core.store);
  }

  /**
   * Returns the headers that ride on the answer of a panel (null: one without a name) to a request;
   * null: nothing rides, also after a fault.
   */
  on(
    { request, link, isShared, figures, myUrl }: Omit<AdmittedFetch, 'namesLink'>,
    { ride: level, providerIdFile }: Pick<Way, 'ride' | 'providerIdFile'>,
    panel: PanelKind | null,
    nowMs: number,
  ): Maybe<Riders | null> {
    // The path of nearly all requests.
    if (link.facts === undefined) return null;
    const { secretOf, settings } = this.deps;
    const way = {
      level,
      providerId: secretOf(providerIdFile),
      hosts: settings.rideHosts,
    };
    const languages = () => languagesOf(request.headers);
    const fetch = { link, isShared, languages, ...(figures && { figures }) };
    const fail = (fault: unknown) => this.#fail(fault, nowMs);
    try {
      const riders = after(this.#rides.on(fetch, way, nowMs), (found) =>
        withPage(found, (hasFigures) => myUrl(link, hasFigures && !isShared), panel),
      );
      return riders instanceof Promise ? riders.catch(fail) : riders;
    } catch (fault) {
      return fail(fault);
    }
  }

  /** Saves the stamps of an answer that went out. `by`: the app, or a proxy. */
  note(carried: Carried, { hwid, rides }: AdmittedDevice, by: string, nowMs: number): void {
    if (hwid === undefined || carried.length === 0) return;
    const device = { hwid, deviceId: rides?.deviceId ?? null };
    this.deps.core.store.noteCarried(stampsOf(carried, device, by, nowMs));
  }

  /** A fault must not hold back the subscription: it goes out without messages. */
  #fail(fault: unknown, nowMs: number): null {
    const count = this.#failures.due(nowMs);
    if (count > 0) this.deps.log.warn('rides_not_read', { reason: reasonOf(fault), count });
    return null;
  }
}

/** Adds the button to the link's page if no other button is set. */
function withPage(
  riders: Riders | null,
  myUrl: (hasFigures: boolean) => Maybe<string | null>,
  panel: PanelKind | null,
): Maybe<Riders | null> {
  if (riders === null || !riders.hasMy || riders.buttons.webPageUrl !== null) return riders;
  return after(myUrl(riders.hasFigures), (webPageUrl) => {
    const replaces = webPageUrl !== null && panel !== null && PANEL_TRAITS[panel].hasOwnButton;
    const buttons = { ...riders.buttons, webPageUrl };
    return { ...riders, buttons, ...(replaces && { replacesPage: true }) };
  });
}
