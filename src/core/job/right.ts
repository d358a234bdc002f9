/** The right of a person to a job, which is asked again before each of its steps. */

import { type CallName, mayCall } from '../account/roles.ts';
import type { Core } from '../core.ts';
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
  return account !== null && mayCall(CALLS[kind], await store.listGrants(account.id), providerId);
}
