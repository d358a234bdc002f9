import { afterAll, setDefaultTimeout } from 'bun:test';
import { cleanUp } from './process.ts';
import { PATIENCE_MS } from './until.ts';

/** Prepares a test file that starts processes: they end with it, and its tests have time enough. */
export function useProcesses(timeoutMs = 2 * PATIENCE_MS): void {
  setDefaultTimeout(timeoutMs);
  afterAll(cleanUp);
}
