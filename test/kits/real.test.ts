/** The kits against the executable, through a relay that cuts connections. */

import { test } from 'bun:test';
import { live, MESSAGES, useReal } from './real.ts';

useReal();

test(`${MESSAGES} messages`, () => live(MESSAGES, () => Promise.resolve(null)));
