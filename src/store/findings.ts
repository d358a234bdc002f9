/** Findings of the doctor about a database of either kind. */

import { about, type Finding } from '../base/finding.ts';

const say = about('database');

/** Warns of a schema that this program still has to migrate. */
export function olderSchemaFinding(schema: number, needed: number): Finding {
  const todo = "make a backup, then restart 'gatepost serve'";
  return say.warning('schema_older', `it has schema ${schema}, this program needs ${needed}`, todo);
}

/** Names the version that made the schema of a newer program; null: it is unknown. */
export function newerSchemaFinding(schema: number, known: number, program: string | null): Finding {
  const what = `it has schema ${schema}, this program knows up to ${known}`;
  return say.problem('schema_newer', what, newerRemedy(program));
}

const newerRemedy = (program: string | null) =>
  program === null
    ? 'use a newer gatepost'
    : `gatepost ${program} made it: use that version or a newer one`;

/** As {@link newerSchemaFinding}, for an error. */
export const newerText = (schema: number, known: number, program: string | null) =>
  `schema ${schema}, this program knows up to ${known}: ${newerRemedy(program)}`;
