import type { Actor } from './port/audit.ts';
import type { SendBounds } from './port/distribution.ts';
import type { Store } from './port/store.ts';
import type { Signals } from './signals.ts';

/** What every rule of the product works with. */
export interface Core {
  store: Store;
  signals: Signals;
  /** On whose behalf the rules are asked: whose name the audit log gets. */
  actor: () => Actor;
  /** Cap on limited links for a provider without a cap of its own. */
  readonly linksPerProviderMax: number;
  /** Cap on a provider's bindings. */
  readonly domainsPerProviderMax: number;
  /** How many commands to unbound HWIDs a provider may send in 24 hours. */
  readonly unboundCommandsPerDayMax: number;
  /** How many messages of one provider may wait for one device. */
  readonly waitingPerDeviceMax: number;
  /** Bounds of what a provider sends and has kept. */
  readonly sendBounds: SendBounds;
}

/** `core` on somebody else's behalf; what else it says stays what `core` says at the time. */
export function actingAs(core: Core, actor: () => Actor): Core {
  const acting = Object.create(core) as Core;
  acting.actor = actor;
  return acting;
}
