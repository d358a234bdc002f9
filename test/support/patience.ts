/** Loaded before the first test file of a process (bunfig.toml). */

import { setDefaultTimeout } from 'bun:test';
import { TEST_MS_MAX } from './test-time.ts';

setDefaultTimeout(TEST_MS_MAX);
