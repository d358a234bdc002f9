/** Strikes the leader of a cluster again and again under load, and tells what callers noticed. */

import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { Cluster, Fault } from './cluster.ts';
import type { Recorder } from './recorder.ts';

export interface Failover {
  fault: Fault;
  /** From the fault until Patroni had another leader, ms. */
  electionMs: number;
  /** From then until a call that began after it was answered well, ms. */
  answeredAfterMs: number;
  /** Of the calls that ended between the fault and the first good answer. */
  failed: number;
  longestMs: number;
}

const FAULTS: readonly Fault[] = [
  'machine',
  'database',
  'agent',
  'frozen',
  'waiting',
  'switchover',
];
/** Callers notice nothing new after this time. */
const ANSWER_MAX_MS = 60_000;

/** One failover after the other, each on a whole cluster under load. */
export async function failOver(
  cluster: Cluster,
  calls: Recorder,
  count: number,
  random: Random,
  note: (failover: Failover) => void,
): Promise<void> {
  for (let n = 0; n < count; n++) {
    await cluster.whole();
    const quietMs = performance.now();
    await until('calls are answered', () => calls.okAfter(quietMs), ANSWER_MAX_MS);
    await Bun.sleep(random.int(0, 2000));
    const fault = FAULTS[n % FAULTS.length] ?? 'machine';
    const leader = await cluster.leader();
    const struckMs = performance.now();
    const mend = await cluster.strike(leader, fault);
    await cluster.leader(leader);
    const electedMs = performance.now();
    const okMs = await until('calls are answered', () => calls.okAfter(electedMs), ANSWER_MAX_MS);
    const { failed, longestMs } = calls.after(struckMs);
    const [electionMs, answeredAfterMs] = [electedMs - struckMs, okMs - electedMs];
    note({ fault, electionMs, answeredAfterMs, failed, longestMs });
    mend();
  }
  await cluster.whole();
}
