/** The rule `mergeUnproven` of core/device.ts in SQL, for statements about many devices. */

import { FACT_FIELDS } from '../../../core/device-facts.ts';
import { each } from '../../../core/field.ts';
import { columnOf, sql } from '../../statement-text.ts';

/** The facts of a device as columns of a table of rows. */
export const FACT_TYPES = each(FACT_FIELDS, () => 'text' as const);

/** Returns the facts of row `p` after an unproven report of `reported`, for a SET. */
export function mergedUnproven(p: string, reported: string) {
  const merged = FACT_FIELDS.filter((fact) => fact !== 'os')
    .map(columnOf)
    .map((fact) => `${fact} = coalesce(nullif(${reported}.${fact}, ''), ${p}.${fact})`);
  const os = `os = CASE WHEN ${p}.token_id IS NULL AND ${reported}.os <> ''
    THEN ${reported}.os ELSE ${p}.os END`;
  return sql.raw([os, ...merged].join(', '));
}
