/** A limited link as an argument: its code, id or subscription key, or a part of its note. */

import { InvalidArgumentError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import type { Core } from '../core/core.ts';
import { LINK_SEARCH, readInstallCode, readLinkSearch } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import { subscriptionKeyHash } from '../core/secret.ts';
import { readSubscriptionKey } from '../core/subscription-key.ts';
import { refusal } from './refusal.ts';

export type LinkName = { text: string } | { subscriptionKey: string };

const ABOUT = 'its code, #ID, part of its note, or key: with its subscription key';
export const LINK_ARGUMENT = ['<link>', ABOUT, linkNameValue] as const;
/** The argument where a filter may choose links instead. */
export const LINKS_ARGUMENT = ['[link]', ABOUT, linkNameValue] as const;

export function linkNameValue(text: string): LinkName {
  const subscriptionKey = text.startsWith('key:') ? readSubscriptionKey(text.slice(4)) : null;
  if (subscriptionKey !== null && !isRefused(subscriptionKey)) return { subscriptionKey };
  // A message about a note must not repeat a mistyped key.
  if (subscriptionKey === null && !isRefused(readLinkSearch(text))) return { text };
  throw new InvalidArgumentError(
    `a link is given by ${ABOUT}; a part of a note is ${LINK_SEARCH.rule}`,
  );
}

/** A link that was found by a name. */
interface NamedLink {
  link: OwnedLink;
  /** True: a part of its note chose it, so a mistake is likelier. */
  isByNote: boolean;
}

/** Most links that a message lists. */
const CANDIDATES_MAX = 10;

/** Returns links for a message, with their notes. */
function listed(links: readonly OwnedLink[]): string {
  const first = links.slice(0, CANDIDATES_MAX).map(({ installCode, providerCode, note }) => {
    return `${installCode} of ${providerCode}${note === null ? '' : ` (${visible(note)})`}`;
  });
  return `${first.join(', ')}${links.length > CANDIDATES_MAX ? ' and more' : ''}`;
}

/**
 * Finds a link by its code, else by its id, else as the only one with the text in its note; a whole
 * note has precedence. Throws {@link OperatorError}: `link_not_found`, or `link_ambiguous` with the
 * candidates. No message contains a key.
 */
export async function findNamed({ store }: Core, name: LinkName): Promise<NamedLink> {
  if ('subscriptionKey' in name) {
    const found = await store.findLinksByKey(subscriptionKeyHash(name.subscriptionKey));
    return { link: onlyOne(found, 'several links have this subscription key'), isByNote: false };
  }
  const { text } = name;
  const id = /^#?(\d{1,15})$/.exec(text)?.[1];
  const link =
    (isRefused(readInstallCode(text)) ? null : await store.findLink(text)) ??
    (id === undefined ? null : await store.findLinkById(Number(id)));
  if (link !== null) return { link, isByNote: false };
  const of = { providerCode: null, isFull: false, status: null, inNote: text };
  const found = await store.listLinks({ ...of, countMax: 1_000 });
  if (found.length === 0) throw refusal('link_not_found', visible(text));
  const whole = found.filter(({ note }) => note === text);
  const fitting = whole.length > 0 ? whole : found;
  return { link: onlyOne(fitting, `'${visible(text)}' is in several notes`), isByNote: true };
}

function onlyOne(found: readonly OwnedLink[], ambiguity: string): OwnedLink {
  const [link] = found;
  if (link === undefined) {
    throw new OperatorError('there is no link with this subscription key', 'link_not_found');
  }
  if (found.length === 1) return link;
  throw new OperatorError(`${ambiguity}: ${listed(found)}`, 'link_ambiguous');
}

/** Finds a link as {@link findNamed} does. */
export async function findLink(core: Core, name: LinkName): Promise<OwnedLink> {
  return (await findNamed(core, name)).link;
}
