/** What a diagnosis says of the contents of a database, whichever store they are in. */

import { about, type Finding } from '../finding.ts';

const say = about('database');

/** A webhook of the operator's that did not take what it was told: nobody else may hear of it. */
export interface DisabledWebhook {
  id: number;
  why: string;
}

export function disabledFinding({ id, why }: DisabledWebhook): Finding {
  const todo = `when its receiver is mended, 'gatepost webhook set ${id} --enable'`;
  return say.warning(`the operator's webhook ${id} is disabled: ${why}`, todo);
}

/** Warns of a schema that waits for this program to migrate it. */
export function olderSchemaFinding(schema: number, needed: number): Finding {
  const todo = "make a backup, then restart 'gatepost serve'";
  return say.warning(`it has schema ${schema}, this program needs ${needed}`, todo);
}
