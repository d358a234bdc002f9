/** Every page of the operator's navigation, as every-page.test.ts has those of a provider. */

import { asOperator, expectSound, testEveryPage } from '../support/every-page.ts';

testEveryPage('light', asOperator, { colorScheme: 'light', locale: 'en-GB' }, expectSound);
