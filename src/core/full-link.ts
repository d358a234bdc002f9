/** The refusal that a user can solve on the page of the link: see core/my.ts. */

import { Refused } from './outcome.ts';
import type { AdmittedLink } from './port/slot.ts';

/** The refusal of a full link; its user may free a slot. */
export class FullLinkRefused extends Refused<'link_limit_reached'> {
  constructor(
    readonly link: AdmittedLink,
    /** The HWID; null: the app sent none. */
    readonly hwid: string | null,
  ) {
    super('link_limit_reached');
  }
}
