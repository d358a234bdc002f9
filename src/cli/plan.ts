import type { Plan } from '../core/port/provider.ts';

/** The rights of each plan: people choose one by its name, which does not tell. */
const NOTES: Readonly<Record<Plan, string>> = {
  basic: 'links and domains; it sends neither commands (pro) nor notifications (enterprise)',
  pro: 'links, domains and commands; it sends no notifications (enterprise)',
  enterprise: 'links, domains, commands and notifications',
};

/** `basic: links and domains; …` */
export function planNote(plan: Plan): string {
  return `${plan}: ${NOTES[plan]}`;
}
