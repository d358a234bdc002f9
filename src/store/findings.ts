/** Findings of the doctor about a database of either kind. */

import { about, type Finding } from '../finding.ts';

const say = about('database');

/** Warns of a schema that this program still has to migrate. */
export function olderSchemaFinding(schema: number, needed: number): Finding {
  const todo = "make a backup, then restart 'gatepost serve'";
  return say.warning('schema_older', `it has schema ${schema}, this program needs ${needed}`, todo);
}
