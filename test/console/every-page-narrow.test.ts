/** Every page of a provider's navigation on a small phone. */

import { asProvider, expectNarrow, testEveryPage } from '../support/every-page.ts';

// Russian has the longest words.
testEveryPage('no page is wider than a small phone', asProvider, { locale: 'ru' }, expectNarrow);
