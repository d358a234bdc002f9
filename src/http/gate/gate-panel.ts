/** The panel behind the proxies that call `/gate`, as the gate asks it. */

import type { Clock } from '../../base/clock.ts';
import type { Core } from '../../core/core.ts';
import { type DeviceCall, verdictOn } from '../../core/door.ts';
import type { KeyInPath, SignedToken } from '../../core/key-path.ts';
import { isRefused } from '../../core/outcome.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import { isAdmitted } from '../../core/slot.ts';

/** The API of the panel. */
export interface GatePanel {
  /** Returns whether the settings name an API. */
  isAsked(): boolean;
  /** Returns false if the panel has no user of the key, or does not take the token. */
  admits(providerId: number, named: { key: string; token: SignedToken | null }): Promise<boolean>;
  /** Enables a link that an import disabled, if its user is active. Returns whether it did. */
  comesBack(providerId: number, key: string): Promise<boolean>;
  /** Reads the figures of the link of a key, if they are due, without delaying the request. */
  readLater(link: AdmittedLink, named: KeyInPath): void;
}

/**
 * Asks the panel before a new device takes a slot on a link, and whether a link that an import
 * disabled comes back. Returns false if the key is one without a user, or a token that the panel
 * does not take. A device that holds a slot of an active link does not wait for this.
 */
export async function panelAdmits(
  { core, clock, panel }: { core: Core; clock: Clock; panel: GatePanel },
  { key, token = null }: Pick<KeyInPath, 'key'> & { token?: SignedToken | null | undefined },
  call: DeviceCall,
  facts: DeviceFacts,
): Promise<boolean> {
  const decide = () => verdictOn(core, call, clock.nowMs(), facts);
  let judged = await decide();
  if (isRefused(judged)) return true;
  const { providerId } = judged.door.link;
  if (judged.verdict === 'link_disabled' && (await panel.comesBack(providerId, key))) {
    judged = await decide();
  }
  const isNew = !isRefused(judged) && judged.verdict !== 'known' && isAdmitted(judged.verdict);
  return !isNew || panel.admits(providerId, { key, token });
}
