/** The policy of a link's or a provider's own, as columns. */

import { sql } from 'drizzle-orm';
import { value } from '../backend.ts';

export const POLICY_COLUMNS =
  'inactive_days AS "inactiveDays", when_full AS "whenFull", cool_down_hours AS "coolDownHours"';
export const SET_POLICY = sql`inactive_days = ${value('inactiveDays')},
  when_full = ${value('whenFull')}, cool_down_hours = ${value('coolDownHours')}`;
