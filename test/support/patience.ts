/** Loaded before each test file (bunfig.toml): time enough for any test on a busy machine. */

import { setDefaultTimeout } from 'bun:test';

setDefaultTimeout(60_000);
