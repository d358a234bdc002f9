/** Makes many links at a time from drafts: numbered ones, or rows of a file. */

import type { Core } from './core.ts';
import { counted } from './counted.ts';
import { addLink, EXISTS, takenBy } from './link.ts';
import type { LinkForm } from './link-form.ts';
import { innermostReason, isRefused, saving } from './outcome.ts';
import type { KeyedCall } from './port/idempotency.ts';
import type { Provider } from './port/provider.ts';
import { subscriptionKeyHash } from './secret.ts';

/** The terms of a new link; an absent one is that of its provider. */
export interface LinkDraft extends LinkForm {
  /** The key of the call: with it a repeat makes no second link. */
  keyed?: KeyedCall | null;
}

/** Links that are made together, so that they share commits. */
const TOGETHER = 50;

/** A new link, or the reason of its refusal. */
export type MadeLink =
  | { done: 'added'; id: number; installCode: string }
  | { done: 'skipped'; why: string }
  /** No further link will be made either. */
  | { done: 'stopped'; why: string; error: 'not_saved' | 'links_max_reached' };

async function make(
  core: Core,
  provider: Provider,
  draft: LinkDraft,
  nowMs: number,
): Promise<MadeLink> {
  const { key: subscriptionKey, code: installCode, limit: installLimit, ...terms } = draft;
  const wanted = { ...terms, installCode, installLimit, subscriptionKey };
  const added = await saving('not_saved', addLink(core, provider, wanted, nowMs));
  if (!isRefused(added)) return { done: 'added', id: added.id, installCode: added.installCode };
  const { says, detail = EXISTS.install_code_exists, fault } = added;
  if (says === 'install_code_exists' || says === 'malformed')
    return { done: 'skipped', why: detail };
  if (says === 'not_saved') {
    const why = `the change could not be saved: ${innermostReason(fault)}`;
    return { done: 'stopped', why, error: 'not_saved' };
  }
  const max = provider.installCountMax ?? core.limits.linksPerProviderMax;
  const why = `${provider.code} has reached its ${counted(max, 'link')}`;
  return { done: 'stopped', why, error: 'links_max_reached' };
}

/** Makes links in order, up to the first `stopped` one. */
export async function makeLinks(
  core: Core,
  provider: Provider,
  drafts: readonly LinkDraft[],
  nowMs: number,
): Promise<MadeLink[]> {
  const made: MadeLink[] = [];
  for (let at = 0; at < drafts.length; at += TOGETHER) {
    const some = drafts.slice(at, at + TOGETHER);
    made.push(...(await Promise.all(some.map((draft) => make(core, provider, draft, nowMs)))));
    if (made.some(({ done }) => done === 'stopped')) break;
  }
  return made;
}

/** Returns the result that a draft would have now; it may differ by the time the link is made. */
export async function foreseeLink(
  core: Core,
  provider: Provider,
  { code, key }: Pick<LinkDraft, 'code' | 'key'>,
): Promise<MadeLink> {
  const taken = await takenBy(core, provider, {
    installCode: code,
    subscriptionKeyHash: key === null ? null : subscriptionKeyHash(key),
  });
  return taken === null
    ? { done: 'added', id: 0, installCode: code ?? '' }
    : { done: 'skipped', why: taken };
}
