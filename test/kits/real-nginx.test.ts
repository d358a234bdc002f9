/** The kits against the executable, through nginx as documented and the relay that cuts. */

import { testWith } from '../support/needs.ts';
import { startNginxForNodes } from '../support/proxies.ts';
import { APP_EVERY, live, MESSAGES, useReal } from './real.ts';

useReal();

// Each app is killed after twice so many messages at the latest.
const THROUGH = Math.max(2 * APP_EVERY + 2, MESSAGES / 2);

testWith('nginx')(`${THROUGH} messages`, () => live(THROUGH, startNginxForNodes));
