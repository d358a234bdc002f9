/** The rights of roles: sets of roles that the records of calls (src/call) name. */

import type { Grant, Role } from '../port/account.ts';

/** Roles that may do something. An operator may at each provider too; an observer reads. */
export type Roles = readonly Role[];

/** Sees a provider. */
export const LOOK: Roles = ['owner', 'sender', 'support', 'reader', 'operator', 'observer'];
/** Sees what people did at a provider. */
export const REVIEW: Roles = ['owner', 'sender', 'support', 'operator', 'observer'];
/** Manages links and messages. */
export const SEND: Roles = ['owner', 'sender', 'operator'];
/** Frees slots. */
export const SUPPORT: Roles = ['owner', 'sender', 'support', 'operator'];
/** Manages keys, staff, domains and webhooks. */
export const OWN: Roles = ['owner', 'operator'];
/** Cuts links off: it changes the credentials of customers at their panel. */
export const CUT: Roles = ['owner', 'operator'];
/** Sees the webhooks. */
export const OWN_LOOK: Roles = ['owner', 'operator', 'observer'];
/** Sees the appliance. */
export const WATCH: Roles = ['operator', 'observer'];
/** Manages the appliance. */
export const OPERATE: Roles = ['operator'];

/** Returns the role that a place must keep: the last account with it cannot lose it. */
export function topRoleAt(providerId: number | null): Role {
  return providerId === null ? 'operator' : 'owner';
}

/** Returns whether grants include one of the roles at a provider, or (null) at the appliance. */
export const holds = (roles: Roles, grants: readonly Grant[], providerId: number | null): boolean =>
  grants.some(
    (grant) =>
      roles.includes(grant.role) && (grant.providerId === null || grant.providerId === providerId),
  );
