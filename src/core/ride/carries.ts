/** Decides which parts of messages ride to which apps. */

import { headersReadBy } from '../app/find.ts';
import type { App } from '../app/record.ts';
import { settingsOf } from './setting.ts';

/**
 * Returns true if a part can ride to an app (null: an unknown one), with or without a Provider ID.
 * The value decides too: see `rideHeaders`.
 */
export function carriesPart(app: App | null, part: string, hasProviderId: boolean): boolean {
  if (part === 'update') return true;
  const isOpen = ({ needsProviderId }: { needsProviderId: boolean }) =>
    hasProviderId || !needsProviderId;
  const key = part.startsWith('set:') ? part.slice(4) : null;
  if (key === null) return headersReadBy(app).some((of) => of.part === part && isOpen(of));
  return settingsOf(app).some((setting) => setting.key === key && isOpen(setting));
}
