/** The rule `mergeUnproven` of core/device.ts in SQL, for statements about many devices. */

import { sql } from '../../statement-text.ts';

/** The facts of a device as columns of a table of rows. */
export const FACT_TYPES = {
  os: 'text',
  osVersion: 'text',
  deviceName: 'text',
  appVersion: 'text',
  userAgent: 'text',
} as const;

/** Returns the facts of row `p` after an unproven report of `reported`, for a SET. */
export function mergedUnproven(p: string, reported: string) {
  const merged = ['os_version', 'device_name', 'app_version', 'user_agent'].map(
    (fact) => `${fact} = coalesce(nullif(${reported}.${fact}, ''), ${p}.${fact})`,
  );
  const os = `os = CASE WHEN ${p}.token_id IS NULL AND ${reported}.os <> ''
    THEN ${reported}.os ELSE ${p}.os END`;
  return sql.raw([os, ...merged].join(', '));
}
