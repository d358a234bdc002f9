/** Figures of this process that the system knows. Linux has most of them, other systems fewer. */

import { readdir, readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import type { Histogram } from '../counts.ts';

export interface ProcessFacts {
  cpuSeconds: number;
  residentBytes: number;
  /** Number of open descriptors and its bound; null where there is no /proc. */
  openFiles: number | null;
  openFilesMax: number | null;
}

export async function processFacts(): Promise<ProcessFacts> {
  const { user, system } = process.cpuUsage();
  const files = await readdir('/proc/self/fd').catch(() => null);
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const openFilesMax = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    // Without the one that lists them.
    openFiles: files && files.length - 1,
    openFilesMax: openFilesMax === undefined ? null : Number(openFilesMax),
  };
}

/** Interval at which the event loop is watched, ms. */
const WATCH_INTERVAL_MS = 1_000;

/** Notes once a second how much later than planned a timer rings; returns the end of that. */
export function watchEventLoop(clock: Clock, lagSeconds: Histogram): () => void {
  let plannedMs = clock.steadyMs() + WATCH_INTERVAL_MS;
  const timer = setInterval(() => {
    const nowMs = clock.steadyMs();
    lagSeconds.observe(Math.max(0, nowMs - plannedMs) / 1000);
    plannedMs = nowMs + WATCH_INTERVAL_MS;
  }, WATCH_INTERVAL_MS);
  return () => clearInterval(timer);
}
