/** Every page of the operator's navigation, as every-page.test.ts has those of a provider. */

import { asOperator, testEveryPage } from '../support/every-page.ts';

testEveryPage(asOperator);
