/** The event of a change by a key that waits: core/unconfirmed.ts. */

import { isoTime } from '../calendar.ts';
import type { Happening } from '../port/event.ts';
import { WAIT_MS } from '../unconfirmed.ts';
import { shortened } from './happenings.ts';

/** A change by a key of what reminders and `my` show: core/unconfirmed.ts. */
interface WaitingChange {
  providerCode: string;
  /** The link, or the reminder; null: the provider itself. */
  installId?: number;
  reminderId?: number;
  /** The field. */
  changed: 'support_url' | 'web_page_url' | 'texts';
  oldHosts: readonly string[];
  newHosts: readonly string[];
}

/** The event of the provider, and that of the operator. */
export const changeWaits = (
  { providerCode, installId, reminderId, changed, oldHosts, newHosts }: WaitingChange,
  atMs: number,
): Happening => ({
  kind: 'change.waiting',
  data: {
    provider_code: providerCode,
    install_id: installId ?? null,
    reminder_id: reminderId ?? null,
    changed,
    old_host: hostsIn(oldHosts),
    new_host: hostsIn(newHosts),
    used_from: isoTime(atMs + WAIT_MS),
  },
});

const hostsIn = (hosts: readonly string[]) =>
  hosts.length === 0 ? null : shortened([...new Set(hosts)].join(', '));
