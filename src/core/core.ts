import type { Actor } from './port/audit.ts';
import type { SendBounds } from './port/distribution.ts';
import type { Reach } from './port/reach.ts';
import type { PushGateway } from './port/registration.ts';
import type { Store } from './port/store.ts';
import type { Signals } from './signals.ts';

/** The means that every rule of the product works with. */
export interface Core {
  store: Store;
  signals: Signals;
  /** The person or program on whose behalf the rules are asked, for the audit log. */
  actor: () => Actor;
  /** Numbers that may change in flight: the rules read each when they need it. */
  readonly limits: Readonly<Limits>;
  /** Gateways to devices that are set up; who has an address at another is served by its inbox. */
  gateways: () => readonly PushGateway[];
  /** Public key by which browsers subscribe to Web Push, base64url; null: it is not set up. */
  pushKey: () => string | null;
}

export interface Limits extends SendBounds, Reach {
  /** Cap on limited links for a provider without a cap of its own. */
  linksPerProviderMax: number;
  /** Cap on a provider's bindings. */
  domainsPerProviderMax: number;
  /** Cap on a provider's commands to unbound HWIDs in 24 hours. */
  unboundCommandsPerDayMax: number;
  /** Cap on webhooks of a provider, and of the operator. */
  webhooksPerOwnerMax: number;
  /** Cap on messages of one provider that wait for one device. */
  waitingPerDeviceMax: number;
}

/** The core on somebody else's behalf. */
export function actingAs(core: Core, actor: () => Actor): Core {
  return { ...core, actor };
}
