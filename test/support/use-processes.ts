import { afterAll, setDefaultTimeout } from 'bun:test';
import { cleanUp } from './process.ts';
import { TEST_MS_MAX } from './test-time.ts';

/** Prepares a test file that starts processes: they end with it, and its tests have time enough. */
export function useProcesses(timeoutMs = TEST_MS_MAX): void {
  setDefaultTimeout(Math.max(timeoutMs, TEST_MS_MAX));
  afterAll(cleanUp);
}
