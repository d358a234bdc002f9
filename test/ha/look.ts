/** Looks into the database from outside, past the nodes: what must hold whatever died. */

import type { SQL } from 'bun';
import { NEVER } from '../fuzz/invariants.ts';
import type { Traffic } from '../support/delivery-traffic.ts';

/** One sentence for each thing that cannot be so. Each look is at one moment of the data. */
export async function lawProblems(sql: SQL): Promise<string[]> {
  const problems: string[] = [];
  for (const [says, query] of NEVER) {
    const rows: unknown[][] = await sql.unsafe(query).values();
    if (rows.length > 0) problems.push(`${says}: ${rows.slice(0, 5).join(', ')}`);
  }
  return problems;
}

/** How many distributions have neither ended nor wait for their time. */
export async function openCount(sql: SQL): Promise<number> {
  const [row] = await sql`
    SELECT count(*)::int AS count FROM distribution WHERE status IN (5, 6, 10, 20, 40)`;
  return row.count;
}

/** What is known of those. */
export async function openProblem(sql: SQL): Promise<string> {
  const rows = await sql`
    SELECT id::int, provider_id::int, status, lease_owner, lease_until_ms::float8,
      due_at_ms::float8, recipient_count::int, sent_count::int, push_waiting_count::int
    FROM distribution WHERE status IN (5, 6, 10, 20, 40) ORDER BY id LIMIT 5`;
  return `${await openCount(sql)} distributions have not ended: ${JSON.stringify([...rows])}`;
}

/** What cannot be so about messages, when all have ended and every device has looked. */
export async function messageProblems(traffic: Traffic, sql: SQL): Promise<string[]> {
  const rows = await sql`
    SELECT x.id::float8 AS id, status, recipient_count::int AS expected,
      count(r.id)::int AS rows, count(r.sent_at_ms)::int AS sent, sent_count::int AS told
    FROM distribution x LEFT JOIN recipient r ON r.distribution_id = x.id GROUP BY x.id`;
  const problems = [...traffic.problems];
  const statuses = new Map<number, number>();
  for (const { id, status, expected, rows: there, sent, told } of rows) {
    statuses.set(id, status);
    const isWhole = status === 100 && there === expected && sent === expected && told === expected;
    if (!isWhole && !(status !== 100 && there === 0)) {
      problems.push(
        `distribution ${id}: ${JSON.stringify({ status, expected, there, sent, told })}`,
      );
    }
  }
  for (const [id, { isScheduled }] of traffic.sent) {
    const status = statuses.get(id) ?? 0;
    const may = traffic.cancelled.has(id) ? [130] : isScheduled ? [30, 100] : [100];
    if (traffic.maybeCancelled.has(id)) may.push(130);
    if (!may.includes(status)) problems.push(`distribution ${id} was accepted and is ${status}`);
  }
  return [...problems, ...(await deviceProblems(traffic, statuses, sql))];
}

async function deviceProblems(
  traffic: Traffic,
  statuses: ReadonlyMap<number, number>,
  sql: SQL,
): Promise<string[]> {
  const problems: string[] = [];
  for (const device of traffic.devices) {
    const { hwid, got, acknowledged } = device;
    for (const [id, { marker }] of got) {
      const known = traffic.sent.get(id);
      if (statuses.get(id) !== 100)
        problems.push(`${hwid} got ${id}, which is ${statuses.get(id)}`);
      if (known && known.marker !== marker) problems.push(`${hwid} got another message as ${id}`);
    }
    for (const [id, { provider, hwids }] of traffic.sent) {
      const isFor = provider === device.provider && (hwids?.includes(hwid) ?? true);
      const isDue = isFor && statuses.get(id) === 100;
      if (got.has(id) !== isDue) problems.push(`${hwid} ${isDue ? 'did not get' : 'got'} ${id}`);
    }
    const marked = await sql`
      SELECT distribution_id::float8 AS id FROM recipient r JOIN device d ON d.id = r.device_id
      WHERE hwid = ${hwid} AND executed_at_ms IS NOT NULL`;
    const kept = new Set(marked.map(({ id }: { id: number }) => id));
    const lost = [...acknowledged].filter((id) => !kept.has(id));
    if (lost.length > 0) problems.push(`${hwid} acknowledged ${lost.join()}, which is not kept`);
  }
  return problems;
}
