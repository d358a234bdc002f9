/** What holds for a database whatever was sent or run. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { besideOf, type Looked } from '../support/beside.ts';
import { openBeside } from '../support/database.ts';

/** Each asks for rows that must not be there. */
export const NEVER: readonly [says: string, sql: string][] = [
  [
    'a link holds more devices than its limit',
    `SELECT i.id FROM install i JOIN (
       SELECT install_id FROM install_device UNION ALL SELECT install_id FROM named_hwid) d
       ON d.install_id = i.id
     GROUP BY i.id HAVING count(*) > i.install_limit AND count(*) > i.over_max`,
  ],
  [
    'the count of a link is not its number of devices and named HWIDs',
    `SELECT id FROM install i WHERE device_count <>
       (SELECT count(*) FROM install_device d WHERE d.install_id = i.id)
       + (SELECT count(*) FROM named_hwid n WHERE n.install_id = i.id)`,
  ],
  [
    'the count of a provider is not its number of links',
    `SELECT id FROM provider p WHERE install_count <>
       (SELECT count(*) FROM install i WHERE i.provider_id = p.id)`,
  ],
  [
    'the count of a device at a provider is not its number of slots there',
    `SELECT device_id, provider_id FROM device_provider p WHERE slot_count <>
       (SELECT count(*) FROM install_device s
        WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id)`,
  ],
  [
    'the count of a provider is not its number of ends of slots',
    `SELECT id FROM provider p WHERE slot_end_count <>
       (SELECT count(*) FROM slot_end e WHERE e.provider_id = p.id)`,
  ],
  [
    'an end of a slot that is not of its link',
    `SELECT e.id FROM slot_end e JOIN install i ON i.id = e.install_id
     WHERE e.provider_id <> i.provider_id`,
  ],
  [
    'a code that is taken twice',
    'SELECT install_code FROM install GROUP BY install_code HAVING count(*) > 1',
  ],
];

/** One sentence for each thing that cannot be so. Each is looked at in a moment of its own. */
export function invariantProblems({ dataDir, database }: Looked): string[] {
  if (database === null && !existsSync(join(dataDir, 'gatepost.db'))) return [];
  const db = besideOf({ dataDir, database });
  const problems = database === null ? damageOf(dataDir) : [];
  try {
    for (const [says, sql] of NEVER) {
      const rows = db.query<object, []>(sql).all();
      if (rows.length > 0) problems.push(`${says}: ${JSON.stringify(rows.slice(0, 5))}`);
    }
    return problems;
  } finally {
    db.close();
  }
}

/** What is wrong with the file. */
function damageOf(dataDir: string): string[] {
  const db = openBeside(dataDir);
  try {
    const [[integrity] = []] = db.query('PRAGMA integrity_check(1)').values();
    const strange = db.query('PRAGMA foreign_key_check').values();
    return [
      ...(integrity === 'ok' ? [] : [`integrity_check: ${integrity}`]),
      ...(strange.length > 0 ? [`foreign_key_check: ${JSON.stringify(strange.slice(0, 5))}`] : []),
    ];
  } finally {
    db.close();
  }
}
