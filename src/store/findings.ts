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
