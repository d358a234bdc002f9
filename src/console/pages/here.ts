/** The pages of the navigation, and the one of the address: of a provider, or of the appliance. */

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

/** Returns the page of the address; where it names none that is here, the first. */
export function pageHere(): PageEntry {
  const named = PAGES.find(({ path: of }) => of === path.value);
  const isOfIt = named?.isOfAppliance === true;
  // Those of operators have no texts for others.
  const isForeign = isOfIt && !isOfAppliance.value;
  const isElsewhere = isForeign || (isAtAppliance() && named?.needs !== null && !isOfIt);
  if (named !== undefined && !isElsewhere) return named;
  return pagesHere()[0] ?? (PAGES[0] as PageEntry);
}
