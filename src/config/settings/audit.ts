import { integer } from '../readers.ts';
import { setting } from '../setting.ts';

export const auditSettings = {
  auditDays: setting({
    key: 'audit.days',
    env: 'GATEPOST_AUDIT_DAYS',
    default: '365',
    ...integer(1, 36_500),
    about: ['For how many days entries of the audit log are kept.'],
    isLive: true,
  }),
  auditEntriesMax: setting({
    key: 'audit.entries_max',
    env: 'GATEPOST_AUDIT_ENTRIES_MAX',
    default: '1000000',
    ...integer(1000, 1_000_000_000),
    about: ['How many entries of the audit log are kept; the oldest go first.'],
    isLive: true,
  }),
} as const;
