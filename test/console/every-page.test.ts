/**
 * Every page of a provider's navigation, so that a new page joins by itself: axe finds no fault,
 * and what a provider, a device or a panel wrote is text.
 */

import { asProvider, expectSound, testEveryPage } from '../support/every-page.ts';

testEveryPage('light', asProvider, { colorScheme: 'light', locale: 'en-GB' }, expectSound);
