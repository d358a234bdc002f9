/**
 * Every page of the navigation of a provider, so that a new page joins by itself: axe finds no
 * fault, what a provider, a device or a panel wrote is text, and no page is wider than a small
 * phone. Those of the operator: operator-every-page.test.ts.
 */

import { asProvider, testEveryPage } from '../support/every-page.ts';

testEveryPage(asProvider);
