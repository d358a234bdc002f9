import { integer } from '../readers.ts';
import { live } from '../setting.ts';

export const auditSettings = {
  auditDays: live('audit.days', '365', integer(1, 36_500), [
    'Days for which entries of the audit log are kept.',
  ]),
  auditEntriesMax: live('audit.entries_max', '1000000', integer(1000, 1_000_000_000), [
    'The most entries of the audit log; the oldest are deleted first. One provider fills at most a tenth of it in a day.',
  ]),
} as const;
