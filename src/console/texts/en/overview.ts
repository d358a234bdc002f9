import { count } from './count.ts';

export const overview = {
  links: 'Links',
  ofMax: (max: string) => `of ${max} at most`,
  full: 'Full links',
  admitted: 'Devices let in',
  refused: 'Refusals',
  fortnight: 'in the last 14 days',
  byDay: 'Devices let in and refused, by day',
  refusals: 'Links that refused a device today',
  noRefusals: 'No link has refused a device in the last 24 hours.',
  refusalCount: (n: number) => count(n, 'refusal', 'refusals'),
  until: (date: string) => `subscription until ${date}`,
  noEnd: 'subscription without end',
  plan: 'Plan',
  suspended: 'suspended',
};
