/**
 * Codes of links that are keys of subscriptions too (`codes_as_keys` of an upstream): such a code
 * opens servers. Roles that make no links see four signs of it, chats none, and addresses of the
 * page of users have a reference in its place.
 */

import { holds, SEND } from './account/roles.ts';
import type { Core } from './core.ts';
import type { Grant } from './port/account.ts';

/** The signs of a secret code that all see. */
const SHOWN = 4;

/** Returns whether the codes of a provider's links are keys. */
export const codesAreKeys = ({ limits }: Pick<Core, 'limits'>, providerCode: string): boolean =>
  limits.gateUpstreams.some((one) => one.provider === providerCode && one.codesAsKeys === true);

/** Returns whether the holder of grants sees whole codes of a provider's links. */
export const seesCodes = (
  core: Pick<Core, 'limits'>,
  { code, id }: { code: string; id: number },
  grants: readonly Grant[],
): boolean => !codesAreKeys(core, code) || holds(SEND, grants, id);

/** Returns the part of a secret code that all see. */
export const shownCode = (code: string): string => `${code.slice(0, SHOWN)}…`;
