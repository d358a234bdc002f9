/** Jobs: what can be taken back yet, and what goes on, over all pages of a provider. */

import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Got } from '../../http/console/table.ts';
import { call } from '../call.ts';
import { may, texts, wordsFor } from '../state.ts';
import { number } from './format.ts';
import { useLive } from './live.ts';

type Listed = Got<'jobs.list'>;
type Job = Listed['jobs'][number];

const SECOND_MS = 1_000;
/** How long a refusal is shown, ms. */
const PROBLEM_MS = 8_000;

const round = signal(0);

/** Shows a job that was just added. */
export function jobsChanged(): void {
  round.value += 1;
}

const isOpen = ({ state }: Job) => state === 'waiting' || state === 'running';

/** What a job does, in words. */
function nameOf({ work }: Job): string {
  const words = texts.jobs;
  switch (work.kind) {
    case 'links.change':
      return words.changing;
    case 'links.remove':
      return words.removing;
    case 'link.free':
      return words.freeing(work.hwid);
    case 'link.free-all':
      return words.freeingAll;
    case 'link.revoke':
      return words.revoking;
  }
}

interface RowProps {
  job: Job;
  /** The time of the server. */
  nowMs: number;
  onCancel: () => void;
}

function Row({ job, nowMs, onCancel }: RowProps) {
  const words = texts.jobs;
  const leftS = Math.max(0, Math.ceil((job.dueAtMs - nowMs) / SECOND_MS));
  const isWaiting = job.state === 'waiting' && leftS > 0;
  const share = job.totalCount === 0 ? 0 : Math.min(1, job.seenCount / job.totalCount);
  return (
    <li>
      <span>
        <bdi>{nameOf(job)}</bdi>
      </span>
      {isWaiting ? (
        <span class="number" role="timer" aria-live="off">
          {words.in(leftS)}
        </span>
      ) : (
        <>
          <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
            <rect class="share-all" width="100" height="6" rx="3" />
            <rect class="share-part" width={100 * share} height="6" rx="3" />
          </svg>
          <span class="number">{words.of(number(job.seenCount), number(job.totalCount))}</span>
        </>
      )}
      {may('jobs.cancel') && (
        <button type="button" onClick={onCancel}>
          {isWaiting ? words.undo : words.stop}
        </button>
      )}
    </li>
  );
}

/** Above each page, as long as there is something to take back or to watch. */
export function JobBar({ at }: { at: string }) {
  const listed = useSignal<Listed | null>(null);
  const problem = useSignal<string | null>(null);
  const passedMs = useSignal(0);
  const load = async () => {
    try {
      listed.value = await call('jobs.list', { at });
      passedMs.value = 0;
    } catch {
      // The page says what is wrong; the bar waits for the next change.
    }
  };
  const open = listed.value?.jobs.filter(isOpen) ?? [];
  useEffect(() => void load(), [at, round.value]);
  useLive('jobs', () => void load(), at);
  useEffect(() => {
    if (open.length === 0) return;
    const timer = setInterval(() => {
      passedMs.value += SECOND_MS;
      void load();
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [open.length === 0]);
  const cancel = async (id: number) => {
    problem.value = await call('jobs.cancel', { at, id }).then(() => null, wordsFor);
    await load();
    setTimeout(() => {
      problem.value = null;
    }, PROBLEM_MS);
  };
  if (open.length === 0 && problem.value === null) return null;
  const nowMs = (listed.value?.nowMs ?? 0) + passedMs.value;
  return (
    <section class="jobs" aria-label={texts.jobs.title}>
      <ul>
        {open.map((job) => (
          <Row key={job.id} job={job} nowMs={nowMs} onCancel={() => cancel(job.id)} />
        ))}
      </ul>
      <p class="problem" role="alert" hidden={problem.value === null}>
        {problem.value}
      </p>
    </section>
  );
}
