import type { Actor } from './port/audit.ts';
import type { SendBounds } from './port/distribution.ts';
import type { Store } from './port/store.ts';
import type { Signals } from './signals.ts';

/** The means that every rule of the product works with. */
export interface Core {
  store: Store;
  signals: Signals;
  /** The person or program on whose behalf the rules are asked, for the audit log. */
  actor: () => Actor;
  /** Cap on limited links for a provider without a cap of its own. */
  readonly linksPerProviderMax: number;
  /** Cap on a provider's bindings. */
  readonly domainsPerProviderMax: number;
  /** Cap on a provider's commands to unbound HWIDs in 24 hours. */
  readonly unboundCommandsPerDayMax: number;
  /** Cap on messages of one provider that wait for one device. */
  readonly waitingPerDeviceMax: number;
  /** Bounds of what a provider sends and has kept. */
  readonly sendBounds: SendBounds;
}

/** The core on somebody else's behalf; everything else stays what `core` has at the time. */
export function actingAs(core: Core, actor: () => Actor): Core {
  const acting = Object.create(core) as Core;
  acting.actor = actor;
  return acting;
}
