/** The bar of jobs above all pages: undo, progress and failures. */

import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';
import { isTyping, keepFocus } from './focus.ts';
import { number } from './format.ts';
import { useLive } from './live.ts';
import { Share } from './share.tsx';
import { Problem } from './work.tsx';

type Listed = Got<'jobs.list'>;
type Job = Listed['jobs'][number];

const SECOND_MS = 1_000;
/** The pause between polls while no stream is open, s: a stream reports changes. */
const ASK_EACH_S = 5;
/** How long a refusal is shown, ms. */
const PROBLEM_MS = 8_000;

const round = signal(0);

/** Shows a job that was just added. */
export function jobsChanged(): void {
  round.value += 1;
}

const isOpen = ({ state }: Job) => state === 'waiting' || state === 'running';

/** Returns the name of a job. */
function workName({ work }: Job): string {
  const words = texts.jobs;
  switch (work?.kind) {
    case undefined:
      return words.unknown;
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
  const share = job.totalCount === 0 ? 0 : job.seenCount / job.totalCount;
  return (
    <li>
      <span>
        <bdi>{workName(job)}</bdi>
      </span>
      {isWaiting ? (
        <span class="number" role="timer" aria-live="off">
          {words.in(leftS)}
        </span>
      ) : (
        <>
          <Share of={share} />
          <span class="number">{words.of(number(job.seenCount), number(job.totalCount))}</span>
          {job.isHeld && <span role="status">{words.held}</span>}
        </>
      )}
      {job.mayStop && (
        <Button label={isWaiting ? words.undo : texts.common.stop} onClick={onCancel} />
      )}
    </li>
  );
}

/** Shows a failed job, or one over many links that ended while the page was open. */
function Ended({ job, onDismiss }: { job: Job; onDismiss: () => void }) {
  const words = texts.jobs;
  const problem = job.problem ?? 'fault';
  const own = (words.problems as Readonly<Record<string, string>>)[problem];
  const counts = [number(job.changedCount), number(job.totalCount)] as const;
  return (
    <li>
      <span>
        <bdi>{workName(job)}</bdi>
      </span>
      {job.state === 'failed' ? (
        <span class="problem" role="alert">
          {words.failed} {own ?? <bdi>{problem}</bdi>}
        </span>
      ) : (
        <span role="status">
          {job.state === 'done' ? words.changed(...counts) : words.stopped(...counts)}
        </span>
      )}
      <Button label={words.dismiss} onClick={onDismiss} />
    </li>
  );
}

const keyOf = (at: string) => `dismissed jobs of ${at}`;

/** Returns the failed jobs that the person has dismissed; empty if the browser stores nothing. */
function dismissedAt(at: string): readonly number[] {
  try {
    return (localStorage.getItem(keyOf(at)) ?? '').split(',').map(Number);
  } catch {
    return [];
  }
}

function dismiss(at: string, ids: readonly number[]): void {
  try {
    localStorage.setItem(keyOf(at), ids.join());
  } catch {
    // The browser stores nothing.
  }
}

/** Loads the jobs, one call at a time; a change during a call causes one more. */
function useJobs(at: string) {
  const listed = useSignal<Listed | null>(null);
  const passedMs = useSignal(0);
  const isAsking = useRef(false);
  const isDue = useRef(false);
  const load = async () => {
    isDue.current = true;
    if (isAsking.current) return;
    isAsking.current = true;
    while (isDue.current) {
      isDue.current = false;
      try {
        listed.value = await call('jobs.list', { at });
        passedMs.value = 0;
      } catch {
        // The page shows the fault; the bar waits for the next change.
      }
    }
    isAsking.current = false;
  };
  const hasOpen = listed.value?.jobs.some(isOpen) ?? false;
  useEffect(() => void load(), [at, round.value]);
  useLive('jobs', () => void load(), at);
  useEffect(() => {
    if (!hasOpen) return;
    const timer = setInterval(() => {
      passedMs.value += SECOND_MS;
      if ((passedMs.value / SECOND_MS) % ASK_EACH_S === 0) void load();
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [hasOpen]);
  return {
    jobs: listed.value?.jobs ?? [],
    nowMs: (listed.value?.nowMs ?? 0) + passedMs.value,
    load,
  };
}

/** Undoes by Ctrl+Z; in a field that undoes what was typed. */
function useUndoKey(undo: (() => void) | null): void {
  const latest = useRef(undo);
  latest.current = undo;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isUndo = event.code === 'KeyZ' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      if (!isUndo || event.altKey || isTyping() || latest.current === null) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** Shows jobs that can be undone, are running, or have failed. */
export function JobBar({ at }: { at: string }) {
  const { jobs, load, nowMs } = useJobs(at);
  const problem = useSignal<string | null>(null);
  const isUndone = useSignal(false);
  const seen = useSignal(dismissedAt(at));
  const watched = useRef(new Set<number>());
  const taking = useRef(new Set<number>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const open = jobs.filter(isOpen);
  for (const { id, work } of open) if (work && 'filter' in work) watched.current.add(id);
  const ended = jobs.filter(
    (job) =>
      !isOpen(job) &&
      (job.state === 'failed' || (watched.current.has(job.id) && job.seenCount > 0)) &&
      !seen.value.includes(job.id),
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  const cancel = async (id: number) => {
    if (taking.current.has(id)) return;
    taking.current.add(id);
    problem.value = await call('jobs.cancel', { at, id }).then(() => null, wordsFor);
    isUndone.value = problem.value === null;
    taking.current.delete(id);
    await load();
    keepFocus();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      problem.value = null;
    }, PROBLEM_MS);
  };
  const onDismiss = (id: number) => {
    const listed = new Set(jobs.map((job) => job.id));
    seen.value = [...dismissedAt(at).filter((one) => listed.has(one)), id];
    dismiss(at, seen.value);
    keepFocus();
  };
  // The newest that can be undone still: its row says so, and a screen reader.
  const undoable = open.find(({ dueAtMs, mayStop, state }) => {
    return mayStop && state === 'waiting' && dueAtMs > nowMs;
  });
  useUndoKey(undoable === undefined ? null : () => void cancel(undoable.id));
  return (
    <>
      <p class="visually-hidden" role="status">
        {undoable ? texts.jobs.undoSaid(workName(undoable)) : isUndone.value && texts.jobs.undone}
      </p>
      {(open.length > 0 || ended.length > 0 || problem.value !== null) && (
        <section class="jobs" aria-label={texts.jobs.title}>
          <ul>
            {open.map((job) => (
              <Row key={job.id} job={job} nowMs={nowMs} onCancel={() => cancel(job.id)} />
            ))}
            {ended.map((job) => (
              <Ended key={job.id} job={job} onDismiss={() => onDismiss(job.id)} />
            ))}
          </ul>
          <Problem of={problem} />
        </section>
      )}
    </>
  );
}
