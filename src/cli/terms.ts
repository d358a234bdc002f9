/** Options of commands for the name, plan, end and link cap of a provider. */

import type { Plan } from '../core/port/provider.ts';
import { labels } from '../labels/en.ts';
import { expiresValue, lineValue, maxLinksValue, planValue } from './values.ts';

export interface Terms {
  plan: Plan;
  expires: number | 'never';
  maxLinks: number | 'default';
}

export const NAME = [
  '--name <name>',
  `the ${labels.name} of the provider`,
  lineValue('a name'),
] as const;
export const PLAN = [
  '--plan <plan>',
  `the ${labels.plan}: basic, pro or enterprise`,
  planValue,
] as const;
export const EXPIRES = [
  '--expires <date>',
  `the ${labels.active_until}: its last day in UTC+3, or never`,
  expiresValue,
] as const;
export const MAX_LINKS = [
  '--max-links <number>',
  `the ${labels.max_links}, or default`,
  maxLinksValue,
] as const;

/** Returns null for `never` or `default`, else the number. */
export function orNull(value: number | 'never' | 'default'): number | null {
  return typeof value === 'number' ? value : null;
}

/** The rights of each plan. */
const RIGHTS: Readonly<Record<Plan, string>> = {
  basic: 'links and domains; no commands (they need pro), no notifications (they need enterprise)',
  pro: 'links, domains and commands; no notifications (they need enterprise)',
  enterprise: 'links, domains, commands and notifications',
};

/** Returns a plan with its rights: `basic: links and domains; …`. */
export function planNote(plan: Plan): string {
  return `${plan}: ${RIGHTS[plan]}`;
}
