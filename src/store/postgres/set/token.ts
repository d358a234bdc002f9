/** Look-ups of devices by token: those of a turn in one statement. */

import { sql } from 'drizzle-orm';
import type { Store } from '../../../core/port/store.ts';
import { allSeen } from '../../noun/look-ups.ts';
import type { Context } from '../context.ts';
import { DIALECT } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare } from '../statement.ts';

/** Tokens that one statement looks up. */
const TOKENS_MAX = 200;

interface Found {
  id: number | null;
  hwid: string;
  tokenId: number;
  lastSeenAtMs: number;
}

const findAll = prepare<Found>(sql`
    SELECT d.id AS id, d.hwid AS hwid, t.id AS "tokenId",
      least(d.last_seen_at_ms, t.last_seen_at_ms, (SELECT min(${allSeen(DIALECT)})
        FROM device_provider p WHERE p.token_id = t.id)) AS "lastSeenAtMs"
    FROM unnest(:tokenHashes::bytea[]) WITH ORDINALITY AS k (token_hash, n)
      LEFT JOIN LATERAL (
        SELECT * FROM device_token WHERE token_hash = k.token_hash LIMIT 1) t ON true
      LEFT JOIN LATERAL (SELECT * FROM device WHERE id = t.device_id LIMIT 1) d ON true
    ORDER BY k.n`);

export function tokensInGroups({ db }: Context): Pick<Store, 'findDeviceByToken'> {
  const found = new TurnGroup(db, {
    itemsMax: TOKENS_MAX,
    run: (tokenHashes: readonly Uint8Array[]) => findAll.all(db, { tokenHashes }),
  });
  return {
    findDeviceByToken: async (tokenHash) => {
      const { id, ...rest } = await found.ask(tokenHash);
      return id === null ? null : { id, ...rest };
    },
  };
}
