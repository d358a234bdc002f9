/** The policy of a link's or a provider's own, as columns. */

import { sql } from 'drizzle-orm';
import { value } from '../backend.ts';

export const POLICY_COLUMNS = `inactive_days AS "inactiveDays", when_full AS "whenFull",
  cool_down_hours AS "coolDownHours", enforce, without_hwid AS "withoutHwid",
  same_phone AS "samePhone"`;
export const SET_POLICY = sql`inactive_days = ${value('inactiveDays')},
  when_full = ${value('whenFull')}, cool_down_hours = ${value('coolDownHours')},
  enforce = ${value('enforce')}, without_hwid = ${value('withoutHwid')},
  same_phone = ${value('samePhone')}`;
/** The columns of a new row with a policy, and their values. */
export const NEW_POLICY = sql`inactive_days, when_full, cool_down_hours, enforce, without_hwid,
  same_phone`;
export const POLICY_VALUES = sql`${value('inactiveDays')}, ${value('whenFull')},
  ${value('coolDownHours')}, ${value('enforce')}, ${value('withoutHwid')}, ${value('samePhone')}`;
