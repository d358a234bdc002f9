/** The right of a person to a job, which is asked again before each of its steps. */

import { type CallName, mayCall } from '../account/roles.ts';
import type { Core } from '../core.ts';
import type { Grant } from '../port/account.ts';
import type { Job, JobKind } from '../port/job.ts';
import { keyFingerprint } from '../secret.ts';

/** The call of the console that adds a job of the kind. */
const CALLS: Readonly<Record<JobKind, CallName>> = {
  'links.change': 'links.bulk',
  'links.remove': 'links.bulk',
  'link.free': 'slots.free',
  'link.free-all': 'slots.free-all',
  'link.revoke': 'links.revoke',
};

/** Returns whether grants give the right to a job of the kind, and so to take one back. */
export const mayDo = (kind: JobKind, grants: readonly Grant[], providerId: number): boolean =>
  mayCall(CALLS[kind], grants, providerId);

/**
 * Returns whether the person who added a job may still do so: the account has the role, or the
 * provider has the key.
 */
export async function mayGoOn({ store }: Core, job: Job): Promise<boolean> {
  const { actor, kind, providerCode, providerId } = job;
  if (actor.kind === 'provider') {
    const provider = await store.findProvider(providerCode);
    return provider !== null && keyFingerprint(provider.keyHash) === actor.key;
  }
  if (actor.kind !== 'account') return true;
  const account = await store.findAccount(actor.name);
  return account !== null && mayDo(kind, await store.listGrants(account.id), providerId);
}
