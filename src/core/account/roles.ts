/**
 * The rights of roles in the console: one table of calls. `http/console` has a record for each
 * call; a call without a row here does not compile, nor does a row without a call.
 */

import type { Grant, Role } from '../port/account.ts';

/**
 * The place at which a call needs a role; `open`: none; `self`: the call concerns only the
 * signed-in account or provider.
 */
type Place = 'open' | 'self' | 'appliance' | 'provider';

interface Right {
  at: Place;
  /** The roles with the right. An operator has each right at a provider too; an observer reads. */
  roles: readonly Role[];
}

const right = (at: Place, ...roles: Role[]): Right => ({ at, roles });

const LOOK = ['owner', 'sender', 'support', 'reader', 'operator', 'observer'] as const;

export const RIGHTS = {
  'session.key': right('open'),
  'session.password': right('open'),
  'session.entry': right('open'),
  'session.invited': right('open'),
  'session.passkey-challenge': right('open'),
  'session.passkey': right('open'),
  'session.me': right('open'),
  'session.leave': right('self'),
  'session.list': right('self'),
  'session.end': right('self'),
  'account.password': right('self'),
  'account.totp-begin': right('self'),
  'account.totp-confirm': right('self'),
  'account.totp-remove': right('self'),
  'account.passkeys': right('self'),
  'account.passkey-begin': right('self'),
  'account.passkey-add': right('self'),
  'account.passkey-rename': right('self'),
  'account.passkey-remove': right('self'),
  'overview.read': right('provider', ...LOOK),
  'links.list': right('provider', ...LOOK),
  'links.add': right('provider', 'owner', 'sender', 'operator'),
  'messages.list': right('provider', ...LOOK),
  'messages.show': right('provider', ...LOOK),
  'messages.count': right('provider', ...LOOK),
  'messages.ledger': right('provider', ...LOOK),
  'messages.cancel': right('provider', 'owner', 'sender', 'operator'),
  'activity.list': right('provider', 'owner', 'sender', 'support', 'operator', 'observer'),
  'links.add-many': right('provider', 'owner', 'sender', 'operator'),
  'links.csv-read': right('provider', 'owner', 'sender', 'operator'),
  'links.csv': right('provider', ...LOOK),
  'links.show': right('provider', ...LOOK),
  'links.edit': right('provider', 'owner', 'sender', 'operator'),
  'links.remove': right('provider', 'owner', 'sender', 'operator'),
  'links.final': right('provider', ...LOOK),
  'jobs.list': right('provider', ...LOOK),
  'jobs.cancel': right('provider', 'owner', 'sender', 'support', 'operator'),
  'links.bulk-preview': right('provider', 'owner', 'sender', 'operator'),
  'links.bulk': right('provider', 'owner', 'sender', 'operator'),
  'slots.free': right('provider', 'owner', 'sender', 'support', 'operator'),
  'slots.free-all': right('provider', 'owner', 'sender', 'support', 'operator'),
  'links.revoke': right('provider', 'owner', 'sender', 'operator'),
  'setup.read': right('provider', ...LOOK),
  'domains.list': right('provider', ...LOOK),
  'domains.add': right('provider', 'owner', 'operator'),
  'domains.delete': right('provider', 'owner', 'operator'),
  'page.show': right('provider', ...LOOK),
  'page.set': right('provider', 'owner', 'operator'),
  'send.preview': right('provider', 'owner', 'sender', 'operator'),
  'send.check': right('provider', 'owner', 'sender', 'operator'),
  'send.notification': right('provider', 'owner', 'sender', 'operator'),
  'send.command': right('provider', 'owner', 'sender', 'operator'),
  'send.find': right('provider', 'owner', 'sender', 'operator'),
  'send.opens': right('provider', 'owner', 'sender', 'operator'),
  'send.settings': right('provider', 'owner', 'sender', 'operator'),
  'send.source': right('provider', 'owner', 'sender', 'operator'),
  'webhooks.list': right('provider', 'owner', 'operator', 'observer'),
  'webhooks.add': right('provider', 'owner', 'operator'),
  'webhooks.edit': right('provider', 'owner', 'operator'),
  'webhooks.test': right('provider', 'owner', 'operator'),
  'webhooks.rotate': right('provider', 'owner', 'operator'),
  'webhooks.remove': right('provider', 'owner', 'operator'),
  'keys.list': right('provider', 'owner', 'operator'),
  'keys.add': right('provider', 'owner', 'operator'),
  'keys.remove': right('provider', 'owner', 'operator'),
  'staff.list': right('provider', 'owner', 'operator'),
  'staff.invite': right('provider', 'owner', 'operator'),
  'staff.change-role': right('provider', 'owner', 'operator'),
  'staff.remove': right('provider', 'owner', 'operator'),
  'providers.list': right('appliance', 'operator', 'observer'),
  'providers.show': right('appliance', 'operator', 'observer'),
  'providers.add': right('appliance', 'operator'),
  'providers.edit': right('appliance', 'operator'),
  'providers.rotate': right('appliance', 'operator'),
  'providers.remove': right('appliance', 'operator'),
  'devices.find': right('appliance', 'operator', 'observer'),
  'devices.show': right('appliance', 'operator', 'observer'),
  'devices.forget': right('appliance', 'operator'),
  'sends.list': right('appliance', 'operator', 'observer'),
  'sends.show': right('appliance', 'operator', 'observer'),
  'sends.block': right('appliance', 'operator'),
  'gateways.list': right('appliance', 'operator', 'observer'),
  'gateways.test': right('appliance', 'operator'),
  'upstreams.list': right('appliance', 'operator', 'observer'),
  'upstreams.check': right('appliance', 'operator'),
  'upstreams.put': right('appliance', 'operator'),
  'upstreams.remove': right('appliance', 'operator'),
  'figures.read': right('appliance', 'operator', 'observer'),
  'accounts.list': right('appliance', 'operator', 'observer'),
  'accounts.invite': right('appliance', 'operator'),
  'accounts.change-role': right('appliance', 'operator'),
  'accounts.remove': right('appliance', 'operator'),
  'accounts.end-sessions': right('appliance', 'operator'),
  'accounts.reset': right('appliance', 'operator'),
  'backups.list': right('appliance', 'operator', 'observer'),
  'backups.make': right('appliance', 'operator'),
  'backups.verify': right('appliance', 'operator'),
  'backups.prepare': right('appliance', 'operator'),
  'audit.list': right('appliance', 'operator', 'observer'),
  'audit.chain': right('appliance', 'operator', 'observer'),
  'audit.verify': right('appliance', 'operator', 'observer'),
  'settings.list': right('appliance', 'operator', 'observer'),
  'nodes.list': right('appliance', 'operator', 'observer'),
  'health.read': right('appliance', 'operator', 'observer'),
  'health.examine': right('appliance', 'operator', 'observer'),
} satisfies Record<string, Right>;

/** The names of the console's calls. */
export type CallName = keyof typeof RIGHTS;

/** Returns the calls about a provider and the appliance that a role may make. */
export function callsOf(role: Role): CallName[] {
  const all = Object.entries(RIGHTS) as [CallName, Right][];
  return all.flatMap(([name, { roles }]) => (roles.includes(role) ? [name] : []));
}

/** Returns the role that a place must keep: the last account with it cannot lose it. */
export function topRoleAt(providerId: number | null): Role {
  return providerId === null ? 'operator' : 'owner';
}

/** Returns whether grants include the right to a call; `providerId` is the provider of the call. */
export function mayCall(
  call: CallName,
  grants: readonly Grant[],
  providerId: number | null,
): boolean {
  const { at, roles }: Right = RIGHTS[call];
  if (at === 'open' || at === 'self') return true;
  return grants.some(
    (grant) =>
      roles.includes(grant.role) &&
      (grant.providerId === null || (at === 'provider' && grant.providerId === providerId)),
  );
}
