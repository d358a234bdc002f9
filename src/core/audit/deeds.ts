/**
 * Deeds: changes in the form of audit entries, made from the record before and after. A store calls
 * these functions within the write. They return null if nothing changed: then there is no entry.
 */

import { isoTime } from '../calendar.ts';
import { BINDING_FIELDS } from '../domain-fields.ts';
import { fieldsOf, usualOf } from '../field.ts';
import type { AuditAnchor, AuditBlock } from '../port/audit.ts';
import { type NewDistribution, PUSH } from '../port/distribution.ts';
import { DOMAIN_ACTIVE, type Domain, type OwnBinding } from '../port/domain.ts';
import type { Job } from '../port/job.ts';
import type { Link, LinkTerms, OwnLink } from '../port/link.ts';
import type { NewProvider, Provider, ProviderTerms } from '../port/provider.ts';
import type { OwnWebhook, Webhook } from '../port/webhook.ts';
import { hwidHash, keyFingerprint } from '../secret.ts';
import { LINK_FIELDS, LINK_TERMS, PROVIDER_FIELDS } from '../terms.ts';
import { type FlatWebhook, flatWebhook, OWN_WEBHOOK, WEBHOOK_FIELDS } from '../webhook-fields.ts';
import { hex } from './chain.ts';
import { type Action, changesIn, changesOf, type Deed, type Facts, factsIn } from './entry.ts';

type AuditedLink = Pick<Link, 'id'> & OwnLink;
type AuditedNewLink = Omit<OwnLink, 'status'>;
type Binding = Pick<Domain, 'id'> & OwnBinding;
type Hook = Pick<Webhook, 'id' | 'target' | 'disabled'> & OwnWebhook;
interface Moved {
  id: number;
  status: number;
}

const deed = (action: Action, object: Facts): Deed => ({ action, object });

export const addLink = (id: number, link: AuditedNewLink) =>
  deed('install.add', newLinkFacts(id, link));

export function updateLink(before: AuditedLink, after: AuditedLink): Deed | null {
  const change = changesOfLink(before, after);
  return change && { action: 'install.update', object: { id: after.id }, change };
}

/** `before`: the link, if it exists already; `hwids`: the number of new ones. */
export function importLink(
  before: AuditedLink | null,
  after: AuditedLink,
  hwids: number,
): Deed | null {
  const { id } = after;
  const action = 'install.import';
  if (before === null) return deed(action, { ...newLinkFacts(id, after), hwids });
  const change = changesOfLink(before, after);
  if (change === null) return hwids === 0 ? null : deed(action, { id, hwids });
  return { action, object: { id, hwids }, change };
}

export const freeSlot = (installId: number, hwid: string) =>
  deed('hwid.delete', { install_id: installId, hwid_sha256: hwidHash(hwid) });

export const ignoreCopies = (installId: number, hwid: string, phones: number) =>
  deed('hwid.ignore-copies', { install_id: installId, hwid_sha256: hwidHash(hwid), phones });
export const nameHwids = (id: number, hwids: readonly string[]) =>
  deed('hwid.name', {
    install_id: id,
    hwids: hwids.length,
    hwid_sha256: hwids.map(hwidHash).join(' '),
  });

export const freeSlots = (id: number, hwids: number) => deed('install.free', { id, hwids });

interface EndedLink {
  id: number;
  freedCount: number;
}

export const revokeLink = ({ id, freedCount, hadKey }: EndedLink & { hadKey: boolean }) =>
  deed('install.revoke', { id, hwids: freedCount, ...(hadKey && { subscription_key: 'removed' }) });

export const removeLink = ({ id, freedCount }: EndedLink) =>
  deed('install.remove', { id, hwids: freedCount });

interface TiedLink extends Pick<Link, 'id'> {
  /** The link that had the key; null: none. */
  formerId: number | null;
}

export const tieLink = ({
  id,
  formerId,
  movedCount,
  leftCount,
}: TiedLink & { movedCount: number; leftCount: number }) =>
  deed('install.tie', {
    id,
    ...(formerId !== null && { former: formerId, hwids: movedCount, left_out: leftCount }),
  });

export const untieLink = ({ id, formerId }: TiedLink) =>
  deed('install.untie', { id, ...(formerId !== null && { back: formerId }) });

export const switchTies = (isOn: boolean) => deed('provider.ties', { ties: isOn ? 'on' : 'off' });

/** One entry for all links of a job. */
export const endJob = (
  job: Pick<Job, 'id' | 'kind' | 'state' | 'changedCount' | 'seenCount'> & { stoppedBy?: string },
) =>
  deed(job.kind === 'links.remove' ? 'install.remove-many' : 'install.update-many', {
    job: job.id,
    links: job.changedCount,
    looked_at: job.seenCount,
    ...(job.state !== 'done' && { ended: job.state }),
    ...(job.stoppedBy !== undefined && { stopped_by: job.stoppedBy }),
  });

export const addDomain = ({ id, domainHash }: Pick<Domain, 'id' | 'domainHash'>) =>
  deed('domain.add', { id, domain_hash: domainHash });

export function updateDomain(before: Binding, after: Binding): Deed | null {
  const change = changesOfBinding(before, after);
  const turned: Action = after.status === DOMAIN_ACTIVE ? 'domain.activate' : 'domain.delete';
  const action = before.status === after.status ? 'domain.rename' : turned;
  return change && { action, object: { id: after.id }, change };
}

/** `before`: the binding, if it exists already. */
export function importDomain(
  before: Binding | null,
  after: Binding & Pick<Domain, 'domainHash'>,
): Deed | null {
  const { id, domainHash } = after;
  const action = 'domain.import';
  if (before === null) return deed(action, { id, domain_hash: domainHash });
  const change = changesOfBinding(before, after);
  return change && { action, object: { id }, change };
}

/** The deed of a send: targets and time, without the content. */
export function send(id: number, draft: NewDistribution): Deed {
  const { notificationType, actionType, targetOs, targetHwid, dueAtMs, segment } = draft;
  const named = targetOs === null ? { hwids: targetHwid.split(',').length } : { os: targetOs };
  return deed(notificationType === PUSH ? 'notification.send' : 'command.send', {
    id,
    ...(actionType !== null && { action_type: actionType }),
    ...(segment == null ? named : { by: 'filter' }),
    ...(draft.unboundCount > 0 && { unbound: draft.unboundCount }),
    ...(dueAtMs !== null && { due: isoTime(dueAtMs) }),
    ...(draft.replacesId && { replaces: draft.replacesId }),
  });
}

export const cancelDistribution = (before: Moved, after: Moved) =>
  moved('distribution.cancel', before, after);

export const blockDistribution = (before: Moved, after: Moved) =>
  moved('distribution.block', before, after);

/** The deed of a message that has ended and rode on subscriptions until now. */
export const endRide = ({ id, status }: Moved) =>
  deed('distribution.block', { id, status, rides: 'ended' });

export function addProvider(draft: NewProvider): Deed {
  const own = { ...usualOf<ProviderTerms>(PROVIDER_FIELDS), ...draft };
  const { plan, active_until, max_links, ...terms } = factsIn<ProviderTerms>(PROVIDER_FIELDS, own);
  const key = keyFingerprint(draft.keyHash);
  const object = { key, plan, active_until, max_links, ...setOnly(terms) } as Facts;
  return { action: 'provider.add', provider: draft.code, object };
}

/** A suspension or its end is a separate deed beside the other changes. */
export function updateProvider(before: Provider, after: Provider): Deed[] {
  const about = { provider: after.code, object: {} };
  const changes = changesIn<ProviderTerms>(PROVIDER_FIELDS, before, after);
  if (changes === null) return [];
  const { suspended_at: suspension, ...terms } = changes;
  const deeds: Deed[] = [];
  if (suspension !== undefined) {
    const action = after.suspendedAtMs === null ? 'provider.resume' : 'provider.suspend';
    deeds.push({ action, ...about, change: { suspended_at: suspension } });
  }
  if (Object.keys(terms).length > 0) {
    deeds.push({ action: 'provider.set', ...about, change: terms });
  }
  return deeds;
}

export function rotateKey(
  before: Pick<Provider, 'keyHash'>,
  after: Pick<Provider, 'code' | 'keyHash' | 'previousKeyUntilMs'>,
): Deed {
  return {
    action: 'provider.rotate-key',
    provider: after.code,
    object: { old_key_until: isoTime(after.previousKeyUntilMs) },
    change: { key: [keyFingerprint(before.keyHash), keyFingerprint(after.keyHash)] },
  };
}

/** The deed of an account of the appliance that opened a provider's pages; it has no change. */
export const visitProvider = () => deed('provider.visit', {});

export const downloadDatabase = () => deed('database.download', {});

export function removeProvider({
  code,
  installCount,
}: Pick<Provider, 'code' | 'installCount'>): Deed {
  return { action: 'provider.remove', provider: code, object: { links: installCount } };
}

/** Omits the address, which may be a secret. */
export const addWebhook = ({ id, target, ...own }: Omit<Hook, 'disabled'>) => {
  const facts = setOnly(factsIn<OwnWebhook>(OWN_WEBHOOK, own));
  return deed('webhook.add', { id, kind: target.kind, ...facts });
};

export function updateWebhook(before: Hook, after: Hook): Deed | null {
  const [was, is] = [flatWebhook(before), flatWebhook(after)];
  const change = changesIn<FlatWebhook>(WEBHOOK_FIELDS, was, is);
  return change && { action: 'webhook.update', object: { id: after.id }, change };
}

export const rotateWebhook = (id: number, previousUntilMs: number | null) =>
  deed('webhook.rotate', { id, old_secret_until: isoTime(previousUntilMs) });

export const removeWebhook = (id: number) => deed('webhook.remove', { id });

export const forgetDevice = (hwid: string) =>
  deed('device.forget', { hwid_sha256: hwidHash(hwid) });

/** `momentMs`: the time of the backup. */
export const trustClocks = (count: number) => deed('clock.trust', { count });

export const restoreDatabase = (momentMs: number) =>
  deed('database.restore', { moment: isoTime(momentMs) });

export const moveDatabase = (from: 'sqlite' | 'postgres') => deed('database.move', { from });

/** The blocks after the anchor up to `last` were deleted. */
export function pruneAudit(
  anchor: Pick<AuditAnchor, 'number'>,
  last: Pick<AuditBlock, 'number' | 'atMs' | 'hash'>,
): Deed {
  const { number: through, atMs, hash } = last;
  const entries = through - anchor.number;
  return deed('audit.prune', { entries, through, hash: hex(hash), until: isoTime(atMs) });
}

/** Returns the facts of a new link: its terms, and only whether it has a subscription key. */
function newLinkFacts(id: number, link: AuditedNewLink): Facts {
  const facts = { id, install_limit: link.installLimit };
  const hasKey = link.subscriptionKeyHash !== null;
  // Most links have neither: a copy would take longer than the rest of the entry.
  if (!hasKey && TERM_FIELDS.every((field) => link[field] === null)) return facts;
  return {
    ...facts,
    ...setOnly(factsIn<LinkTerms>(LINK_TERMS, link)),
    ...(hasKey && { subscription_key: 'set' }),
  };
}

const TERM_FIELDS = fieldsOf(LINK_TERMS);

const changesOfLink = (before: AuditedLink, after: AuditedLink) =>
  changesIn<OwnLink>(LINK_FIELDS, before, after);

const setOnly = (facts: Facts): Facts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));

const changesOfBinding = (before: Binding, after: Binding) =>
  changesIn<OwnBinding>(BINDING_FIELDS, before, after);

function moved(action: Action, before: Moved, after: Moved): Deed | null {
  const change = changesOf({ status: before.status }, { status: after.status });
  return change && { action, object: { id: after.id }, change };
}
