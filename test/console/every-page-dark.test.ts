/** As every-page.test.ts, in the dark and from right to left. */

import { asProvider, expectSound, testEveryPage } from '../support/every-page.ts';

testEveryPage('dark', asProvider, { colorScheme: 'dark', locale: 'fa-IR' }, expectSound);
