/**
 * A server is killed with SIGKILL three times while a job changes many links, and three times while
 * one removes them. Each link is dealt with once, and the audit log has one entry for each job.
 *
 * JOB_LINKS=50000 bun test test/e2e/job-kill.test.ts runs it with more links.
 */

import { expect, test } from 'bun:test';
import { invariantProblems } from '../fuzz/invariants.ts';
import { auditEntries } from '../support/audit.ts';
import { besideOf } from '../support/beside.ts';
import { makeDevices, putOnLinks } from '../support/delivery.ts';
import {
  addProviderByCommand,
  lookedAt,
  openStoreOf,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { scaleOf } from '../support/scale.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const LINKS = scaleOf('JOB_LINKS', { short: 1_000, long: 50_000 });
const KILLS = 3;
const ACTOR = { kind: 'operator', name: 'anna', from: 'local' } as const;

useProcesses(40 * PATIENCE_MS + LINKS * 50);

test(`jobs over ${LINKS} links, killed ${KILLS} times each, deal with each link once`, async () => {
  const dataDir = `${temporaryFolder()}/data`;
  await addProviderByCommand(dataDir, '--max-links', '100000');
  const db = besideOf(await lookedAt(dataDir));
  const hwids = Array.from({ length: LINKS }, (_, n) => `phone-${n}`);
  putOnLinks({ db }, { id: 1 }, makeDevices({ db }, hwids), 1);

  async function runJob(kind: 'links.change' | 'links.remove'): Promise<void> {
    const store = await openStoreOf(dataDir);
    const filter = { search: null, status: null, isFull: false };
    const work = { filter, toId: Number.MAX_SAFE_INTEGER, change: { installLimit: 7 } };
    const times = { createdAtMs: 0, dueAtMs: 0 };
    const bound = { among: [kind], countMax: 1 };
    const params = JSON.stringify(work);
    const facts = { providerId: 1, kind, params, actor: ACTOR, totalCount: LINKS };
    const added = await store.addJob({ ...facts, ...times, ...bound });
    if (typeof added === 'string') throw new Error(added);
    await store.close();
    const seen = db.query<{ seen: number; state: string }, [number]>(
      'SELECT seen_count AS seen, state FROM job WHERE id = ?',
    );
    const patienceMs = 4 * PATIENCE_MS + LINKS * 5;
    for (let kill = 1; kill <= KILLS; kill++) {
      const server = await startServe({ dataDir });
      const enough = (LINKS * kill) / (KILLS + 1);
      const isEnough = async () => (seen.get(added.id)?.seen ?? 0) >= enough;
      await until('links dealt with', isEnough, patienceMs);
      await server.stop('SIGKILL');
      // As when its claim has ended; the store of SQLite sees by itself that it is gone.
      db.run('UPDATE job SET lease_until_ms = 0 WHERE lease_until_ms > 0');
    }
    const last = await startServe({ dataDir });
    const isDone = async () => seen.get(added.id)?.state === 'done';
    await until('the job to end', isDone, patienceMs);
    await last.stop();
    expect(last.troubles()).toEqual([]);
    const counts = 'SELECT seen_count AS seen, changed_count AS changed FROM job WHERE id = ?';
    expect(db.query<object, [number]>(counts).get(added.id)).toEqual({
      seen: LINKS,
      changed: LINKS,
    });
  }

  const linkCount = (where: string) =>
    db.query<{ n: number }, []>(`SELECT count(*) AS n FROM install WHERE ${where}`).get()?.n;
  await runJob('links.change');
  expect(linkCount('install_limit = 7')).toBe(LINKS);
  await runJob('links.remove');
  expect(linkCount('id > 0')).toBe(0);
  const tombstones = 'SELECT count(*) AS n FROM install_tombstone';
  expect(db.query<{ n: number }, []>(tombstones).get()?.n).toBe(LINKS);
  const store = await openStoreOf(dataDir);
  const entries = (await auditEntries({ store })).filter(({ action }) => /-many$/.test(action));
  await store.close();
  expect(entries.map(({ action, name, object }) => [action, name, object])).toEqual([
    ['install.update-many', 'anna', { job: 1, links: LINKS, looked_at: LINKS }],
    ['install.remove-many', 'anna', { job: 2, links: LINKS, looked_at: LINKS }],
  ]);
  expect(invariantProblems(await lookedAt(dataDir))).toEqual([]);
  db.close();
});
