/** A limited link as an argument: its code, or its subscription key. */

import { InvalidArgumentError } from 'commander';
import type { Core } from '../core/core.ts';
import { INSTALL_CODE, readInstallCode, readSubscriptionKey } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { OwnedLink } from '../core/port/link.ts';
import { subscriptionKeyHash } from '../core/secret.ts';
import { OperatorError } from '../operator-error.ts';
import { refusal } from './refusal.ts';

export type LinkName = { installCode: string } | { subscriptionKey: string };

export const LINK_ARGUMENT = [
  '<code>',
  'the code of a link, or key: with its subscription key',
  linkNameValue,
] as const;

function linkNameValue(text: string): LinkName {
  const subscriptionKey = text.startsWith('key:') ? readSubscriptionKey(text.slice(4)) : null;
  if (subscriptionKey !== null && !isRefused(subscriptionKey)) return { subscriptionKey };
  const installCode = readInstallCode(text);
  if (!isRefused(installCode)) return { installCode };
  throw new InvalidArgumentError(
    `the code of a link is ${INSTALL_CODE.rule}; a subscription key has key: before it`,
  );
}

/**
 * Finds a link. Throws {@link OperatorError}: `link_not_found`, or the codes of the links if
 * several providers have one with the key. No message contains a key.
 */
export async function findLink({ store }: Core, name: LinkName): Promise<OwnedLink> {
  if ('installCode' in name) {
    const found = await store.findLink(name.installCode);
    if (found === null) throw refusal('link_not_found', name.installCode);
    return found;
  }
  const [found, ...others] = await store.findLinksByKey(subscriptionKeyHash(name.subscriptionKey));
  if (found === undefined) {
    throw new OperatorError('there is no link with this subscription key', 'link_not_found');
  }
  if (others.length === 0) return found;
  const list = [found, ...others].map((link) => `${link.installCode} of ${link.providerCode}`);
  throw new OperatorError(`several links have this subscription key: ${list.join(', ')}`);
}
