/** Figures of this process from the system: most of them on Linux, fewer elsewhere. */

import { readdir, readFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import type { Histogram } from '../base/counts.ts';

export interface ProcessFacts {
  cpuSeconds: number;
  residentBytes: number;
  /** Open descriptors and their limit; null without /proc. */
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
    // Without the descriptor of the folder itself.
    openFiles: files && files.length - 1,
    openFilesMax: openFilesMax === undefined ? null : Number(openFilesMax),
  };
}

const WATCH_INTERVAL_MS = 1_000;

/** Measures the delay of a timer once a second; returns the function that ends it. */
export function watchEventLoop(clock: Clock, lagSeconds: Histogram): () => void {
  let plannedMs = clock.steadyMs() + WATCH_INTERVAL_MS;
  const timer = setInterval(() => {
    const nowMs = clock.steadyMs();
    lagSeconds.observe(Math.max(0, nowMs - plannedMs) / 1000);
    plannedMs = nowMs + WATCH_INTERVAL_MS;
  }, WATCH_INTERVAL_MS);
  return () => clearInterval(timer);
}
