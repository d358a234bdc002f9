/**
 * Every page of the navigations of a provider and of the operator, so that a new page joins by
 * itself: axe finds no fault, what a provider, a device or a panel wrote is text, and no page is
 * wider than a small phone.
 */

import { describe } from 'bun:test';
import { asOperator, asProvider, testEveryPage } from '../support/every-page.ts';

describe('a provider', () => testEveryPage(asProvider));
describe('the operator', () => testEveryPage(asOperator));
