/** The kits against the executable, through nginx as documented and the relay that cuts. */

import { testWith } from '../support/needs.ts';
import { startNginxForNodes } from '../support/proxies.ts';
import { live, MESSAGES, useReal } from './real.ts';

useReal();

// An app works for up to thirty messages before it is killed.
const THROUGH = Math.max(40, MESSAGES / 2);

testWith('nginx')(`${THROUGH} messages`, () => live(THROUGH, startNginxForNodes));
