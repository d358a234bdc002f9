/** The clients of a server, by their addresses: how they count, and whose turn it is. */

import type { Clock } from '../base/clock.ts';
import type { Core } from '../core/core.ts';
import type { ClientParts } from '../core/door.ts';
import type { AdmittedLink } from '../core/port/slot.ts';
import { BusyAddresses } from './bound/busy-addresses.ts';
import { MinuteLimiter } from './bound/limiter.ts';
import { Parties, type SharedSettings, timesOf } from './bound/parties.ts';
import type { Callers } from './callers.ts';
import { countedAs, type TrustedProxies } from './request/address.ts';

interface ClientsDeps {
  core: Core;
  clock: Clock;
  settings: SharedSettings & {
    readonly trustedProxies: TrustedProxies;
    readonly registrationsPerMinuteMax: number;
  };
  callers: Pick<Callers, 'addressOf' | 'sharedAddressOf'>;
  /** The addresses of this machine. */
  own: readonly string[];
  /** Counts the connection of a request for a party from now on. */
  countAs(request: Request, party: string): void;
}

export function makeClients({ callers, clock, core, countAs, own, settings }: ClientsDeps) {
  const { addressOf } = callers;
  const clientOf = (request: Request) => countedAs(addressOf(request));
  const parties = new Parties({ settings, store: core.store, clientOf, countAs });
  const busy = new BusyAddresses({
    settings,
    own: new Set(own),
    nowMs: clock.nowMs,
    madeAtMs: async (id) => (await core.store.findLinkById(id))?.createdAtMs ?? null,
  });
  const onLinkOf =
    (request: Request) =>
    ({ installId }: AdmittedLink, holdsSlot: boolean) => {
      parties.found(request, installId);
      if (holdsSlot) busy.note(() => addressOf(request), installId);
    };
  return {
    /** Returns the address under which the client of a request is counted. */
    clientOf,
    parties,
    busy,
    /** Returns what hears of the link that a request names. */
    onLinkOf,
    clientPartsOf: (request: Request): ClientParts => ({
      address: () => callers.sharedAddressOf(request),
      onLink: onLinkOf(request),
    }),
    onGuess: (request: Request) => parties.guessed(request),
    /** Returns the parties that a client's connections have. */
    turnsOf: (client: string) => timesOf(settings, client),
    registrations: new MinuteLimiter(
      () => settings.registrationsPerMinuteMax,
      undefined,
      (client) => timesOf(settings, client),
    ),
  };
}
