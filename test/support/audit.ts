/** The audit log as tests look at it. */

import { auditBlocks } from '../../src/core/audit/chain.ts';
import type { AuditEntry } from '../../src/core/audit/entry.ts';
import type { Core } from '../../src/core/core.ts';

/** Every entry, oldest first. */
export async function auditEntries(core: Pick<Core, 'store'>): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const { block } of auditBlocks(core)) entries.push(...JSON.parse(block.entries));
  return entries;
}

/** A deed on one line: `install.update {"id":1} {"status":[10,5]}`. */
export function deedOf({ action, object, change }: AuditEntry): string {
  const parts = [object, change].filter((part) => part !== undefined);
  return [action, ...parts.map((part) => JSON.stringify(part))].join(' ');
}
