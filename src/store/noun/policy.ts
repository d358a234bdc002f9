/** The policy of a link or a provider, as columns. */

import { sql } from 'drizzle-orm';

export const POLICY_COLUMNS = `inactive_days AS "inactiveDays", when_full AS "whenFull",
  cool_down_hours AS "coolDownHours", enforce, without_hwid AS "withoutHwid",
  same_phone AS "samePhone"`;
export const SET_POLICY = sql`inactive_days = :inactiveDays,
  when_full = :whenFull, cool_down_hours = :coolDownHours,
  enforce = :enforce, without_hwid = :withoutHwid,
  same_phone = :samePhone`;
/** The columns of a new row with a policy, and their values. */
export const NEW_POLICY = sql`inactive_days, when_full, cool_down_hours, enforce, without_hwid,
  same_phone`;
export const POLICY_VALUES = sql`:inactiveDays, :whenFull,
  :coolDownHours, :enforce, :withoutHwid, :samePhone`;
