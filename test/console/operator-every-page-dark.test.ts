/** As operator-every-page.test.ts, in the dark and from right to left. */

import { asOperator, expectSound, testEveryPage } from '../support/every-page.ts';

testEveryPage('dark', asOperator, { colorScheme: 'dark', locale: 'fa-IR' }, expectSound);
