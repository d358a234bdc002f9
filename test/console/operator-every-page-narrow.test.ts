/** Every page of the operator's navigation on a small phone. */

import { asOperator, expectNarrow, testEveryPage } from '../support/every-page.ts';

testEveryPage('no page is wider than a small phone', asOperator, {}, expectNarrow);
