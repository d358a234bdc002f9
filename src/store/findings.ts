/** Findings of the doctor about a database of either kind. */

import { about, type Finding } from '../finding.ts';

const say = about('database');

/** A webhook of the operator that was disabled because its events failed. */
export interface DisabledWebhook {
  id: number;
  why: string;
}

export function disabledFinding({ id, why }: DisabledWebhook): Finding {
  const todo = `when its receiver is mended, 'gatepost webhook set ${id} --enable'`;
  return say.warning(
    'webhook_disabled',
    `the operator's webhook ${id} is disabled: ${why}`,
    todo,
    `${id}`,
  );
}

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
