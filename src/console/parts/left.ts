/** The remaining time until a moment, as a countdown. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../state.ts';

const SECOND_MS = 1_000;

/** Returns milliseconds of a clock that the system's time does not move. */
const steadyMs = () => Number(document.timeline.currentTime ?? 0);

/** Returns the remaining time until a moment of the server's clock, ms, as a countdown. */
export function useLeft(untilMs: number, nowMs: number): number {
  const startMs = useRef(steadyMs());
  const left = useSignal(untilMs - nowMs);
  useEffect(() => {
    startMs.current = steadyMs();
    left.value = untilMs - nowMs;
    const timer = setInterval(() => {
      left.value = untilMs - nowMs - (steadyMs() - startMs.current);
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [untilMs, nowMs]);
  return left.value;
}

/** Returns a length of time in its two largest units: `2 d 4 h`, `9 min 12 s`. */
export function lengthOf(ms: number): string {
  const s = Math.floor(ms / SECOND_MS);
  const parts = [
    [Math.floor(s / 86_400), 'day'],
    [Math.floor(s / 3_600) % 24, 'hour'],
    [Math.floor(s / 60) % 60, 'minute'],
    [s % 60, 'second'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = parts.slice(first === -1 ? 3 : first).slice(0, 2);
  const text = shown.map(([count, unit]) =>
    new Intl.NumberFormat(texts.tag, { style: 'unit', unit, unitDisplay: 'short' }).format(count),
  );
  return text.join(' ');
}
