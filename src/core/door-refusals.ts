/** The refusals at the door of a link. */

import { Refused } from './outcome.ts';
import type { AdmitRefusal, AdmittedLink } from './port/slot.ts';

/** The refusals at the door. Each object is made once, because attackers cause many. */
export const AT_DOOR = {
  hwid_required: new Refused('hwid_required'),
  link_not_found: new Refused('link_not_found'),
  /** Does not fall back to the install code, which could open the link of another provider. */
  key_ambiguous: new Refused('link_not_found', { reason: 'key_ambiguous' }),
  /** The answer must not reveal that the link exists. */
  link_domain_not_bound: new Refused('link_not_found', { reason: 'link_domain_not_bound' }),
  link_disabled: new Refused('link_disabled'),
  /** It answers as a full link, whose page does not help. */
  not_named: new Refused('link_limit_reached', {
    reason: 'not_named',
    detail: 'not_named: the link admits only HWIDs that its provider named',
  }),
  barred: new Refused('link_limit_reached', {
    reason: 'barred',
    detail: 'this HWID was cut off from the link; the provider can let it in again',
  }),
  link_limit_reached: new Refused('link_limit_reached'),
  copied_hwid: new Refused('link_limit_reached', {
    reason: 'copied_hwid',
    detail: 'another phone has the slot of this HWID: each phone must send its own',
  }),
} satisfies Record<AdmitRefusal, Refused<string>>;

export type RefusedAtDoor = (typeof AT_DOOR)[AdmitRefusal];

/** The refusal of a full link; its user may free a slot on the page: see core/my.ts. */
export class FullLinkRefused extends Refused<'link_limit_reached'> {
  constructor(
    readonly link: AdmittedLink,
    /** The HWID; null: the app sent none. */
    readonly hwid: string | null,
  ) {
    super('link_limit_reached');
  }
}
