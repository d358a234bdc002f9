/** Finds who holds a lock of the database. */

import { answerOf, type Pools, sendOn } from './pools.ts';

/** Longest time of the question, ms: the call that failed waits for it. */
const ASK_MS = 1_000;

interface Holder {
  pid: number;
  /** The name that its program gave, or its role. */
  name: string;
  /** Null: sessions of other roles are hidden. */
  state: string | null;
  seconds: number | null;
}

/**
 * The session that others wait for, else the one with the oldest transaction that holds a lock: the
 * statement that failed waits no longer.
 */
const FIND = `
  SELECT a.pid, coalesce(nullif(a.application_name, ''), a.usename::text, a.backend_type) AS name,
    a.state, round(extract(epoch FROM clock_timestamp() - a.xact_start))::bigint AS seconds
  FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
    AND a.wait_event_type IS DISTINCT FROM 'Lock'
    AND (a.xact_start IS NULL OR a.xact_start < clock_timestamp() - interval '1 second')
    AND EXISTS (SELECT 1 FROM pg_locks l
      WHERE l.pid = a.pid AND l.granted AND l.locktype <> 'virtualxid'
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))
  ORDER BY EXISTS (SELECT 1 FROM pg_stat_activity w
      WHERE w.wait_event_type = 'Lock' AND a.pid = ANY (pg_blocking_pids(w.pid))) DESC,
    a.xact_start NULLS LAST
  LIMIT 1`;

/** Returns who holds a lock; null: no session is found. Never rejects. */
export async function findHolder(pools: Pools): Promise<string | null> {
  // Statements in the pools may wait for the lock themselves.
  const connection = pools.openBeside(() => undefined);
  try {
    const asked = answerOf<Holder>(sendOn(connection, FIND));
    const answer = await Promise.race([asked, Bun.sleep(ASK_MS)]);
    const holder = answer?.rows[0];
    return holder === undefined ? null : describe(holder);
  } catch {
    return null;
  } finally {
    connection.close({ timeout: 0 }).catch(() => undefined);
  }
}

function describe({ pid, name, state, seconds }: Holder): string {
  const time = seconds === null ? '' : ` for ${seconds} s`;
  const doing = state === null ? '' : `, ${state}${time}`;
  return `process ${pid} of PostgreSQL (${name}${doing}) holds a lock`;
}
