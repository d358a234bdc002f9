/** Deeds about what reminders send: see ./deeds.ts. */

import type { Deed } from './entry.ts';

/** A person lets the reminders go on that stopped because many links moved at once. */
export const resumeReminders = (): Deed => ({ action: 'reminder.resume', object: {} });
