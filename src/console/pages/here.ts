/** The pages of the navigation and of the address, for a provider or for the appliance. */

import { at, isOfAppliance, may, path } from '../state.ts';
import { PAGES, type PageEntry } from './index.ts';

/** An operator acts for a provider while the address names one. */
const isAtAppliance = () => isOfAppliance.value && at.value === null;

/** Returns the pages that the person may open here. */
export function pagesHere(): PageEntry[] {
  return PAGES.filter(
    ({ isOfAppliance: isOfIt = false, needs }) =>
      needs === null || (isOfIt === isAtAppliance() && may(needs)),
  );
}

/** Returns the page of the address, or the first one if the address names none that is allowed. */
export function pageHere(): PageEntry {
  const named = PAGES.find(({ path: of }) => of === path.value);
  const isOfIt = named?.isOfAppliance === true;
  // The texts of the operator's pages are not loaded for other people.
  const isForeign = isOfIt && !isOfAppliance.value;
  const isElsewhere = isForeign || (isAtAppliance() && named?.needs !== null && !isOfIt);
  if (named !== undefined && !isElsewhere) return named;
  return pagesHere()[0] ?? (PAGES[0] as PageEntry);
}
