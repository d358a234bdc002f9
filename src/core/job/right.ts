/** The right of a person to a job, which is checked again before each step. */

import { holds, type Roles, SEND, SUPPORT } from '../account/roles.ts';
import type { Core } from '../core.ts';
import type { Grant } from '../port/account.ts';
import type { Job, JobKind } from '../port/job.ts';
import { refusalByPlan } from '../provider.ts';
import { keyFingerprint } from '../secret.ts';

/** The roles that may add a job of the kind. */
export const JOB_ROLES: Readonly<Record<JobKind, Roles>> = {
  'links.change': SEND,
  'links.remove': SEND,
  'link.free': SUPPORT,
  'link.free-all': SUPPORT,
  'link.revoke': SEND,
};

/** Returns whether grants include the right to a job of the kind, and so to undo one. */
export const mayDo = (kind: JobKind, grants: readonly Grant[], providerId: number): boolean =>
  holds(JOB_ROLES[kind], grants, providerId);

/**
 * Returns why a job must stop: `no_right` if the account that added it lost the role, or the
 * provider has another key; `subscription_required` if its subscription has ended. Returns null if
 * the job may continue.
 */
export async function stopOf(
  { store }: Core,
  job: Job,
  nowMs: number,
): Promise<'no_right' | 'subscription_required' | null> {
  const { actor, kind, providerId } = job;
  const provider = await store.findProvider(job.providerCode);
  if (provider === null) return 'no_right';
  if (refusalByPlan(provider, undefined, nowMs) !== null) return 'subscription_required';
  if (actor.kind === 'provider') {
    return keyFingerprint(provider.keyHash) === actor.key ? null : 'no_right';
  }
  if (actor.kind !== 'account') return null;
  const account = await store.findAccount(actor.name);
  const grants = account === null ? [] : await store.listGrants(account.id);
  return mayDo(kind, grants, providerId) ? null : 'no_right';
}
