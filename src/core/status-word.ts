/** The words of statuses of links, domains and messages. */

import { DOMAIN_ACTIVE, DOMAIN_DISABLED } from './port/domain.ts';

/** The names of the contract for the statuses of links and domains, which have the same numbers. */
export const ACTIVITY_NAMES: Readonly<Record<number, string>> = {
  [DOMAIN_DISABLED]: 'Disabled',
  [DOMAIN_ACTIVE]: 'Active',
};

/** Returns the word for a link or a domain. */
export const activityWord = (isActive: boolean): 'active' | 'disabled' =>
  isActive ? 'active' : 'disabled';

/** Returns the word for the name of a status: `sent_with_errors`. */
export const wordOf = (name: string): string => name.toLowerCase().replaceAll(' ', '_');
