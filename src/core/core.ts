import type { Actor } from './port/audit.ts';
import type { PrivacyKeep } from './port/device.ts';
import type { SendBounds } from './port/distribution.ts';
import type { MySites } from './port/my.ts';
import type { Reach } from './port/reach.ts';
import type { PushGateway } from './port/registration.ts';
import type { RideRules } from './port/ride.ts';
import type { Store } from './port/store.ts';
import type { Ways } from './port/way.ts';
import type { Signals } from './signals.ts';

/** The means of all rules. */
export interface Core {
  store: Store;
  signals: Signals;
  /** Returns the actor for the audit log. Throws if the caller has disconnected. */
  actor: () => Actor;
  /** The operator's limits. A reload may change them: rules read each when they need it. */
  readonly limits: Readonly<Limits>;
  /** Returns the configured gateways; devices with an address at another use their inbox alone. */
  gateways: () => readonly PushGateway[];
  /** Returns the rules of rides: the highest level over all ways to a panel. */
  rides: () => RideRules;
  /**
   * Returns a time, or during a leap of the clock the earliest that may be right. What begins,
   * moves or expires after a while asks it: docs/time.md.
   */
  leastMs: (atMs: number) => number;
  /** Returns the public key of Web Push, base64url; null: it is not configured. */
  pushKey: () => string | null;
}

export interface Limits extends SendBounds, Reach, Ways, MySites {
  /** The facts of devices that are kept: `withoutPrivate` of core/privacy.ts. */
  privacyKeep: PrivacyKeep;
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
  /** The most entries of the audit log, of which a provider has a share of a day. */
  auditEntriesMax: number;
}

/** Returns the core with another actor. */
export function actingAs(core: Core, actor: () => Actor): Core {
  return { ...core, actor };
}
