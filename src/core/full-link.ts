/** The refusal that a page can end: see core/my.ts. */

import { Refused } from './outcome.ts';
import type { AdmittedLink } from './port/slot.ts';

/** The refusal of a full link, whose user may free a place. */
export class FullLinkRefused extends Refused<'link_limit_reached'> {
  constructor(
    readonly link: AdmittedLink,
    /** Null: the app sent none. */
    readonly hwid: string | null,
  ) {
    super('link_limit_reached');
  }
}
