/** Whether a request is forwarded to a panel, and what the response of the panel gives. */

import { ANY_HWID, type DeviceCall, type NewKeyCall } from '../../core/door.ts';
import { type Denied as DeniedLink, unknownTo } from '../../core/named-link.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { AdmittedDevice } from '../../core/port/link.ts';
import type { MyName } from '../../core/port/my.ts';
import type { Outcome } from './responses.ts';

/** A refusal with a text for the user. */
export interface Denied extends DeniedLink {
  /** The name under which it is counted; absent: that of the refusal. */
  outcome?: Outcome;
  /** True for a browser at the address of an open link: the page of users opens by it. */
  opensMy?: boolean;
  /** The names of that link, if its code is a secret: the page has another address. */
  names?: readonly MyName[];
}

/** A slot that is taken after the panel has responded. */
export type WantedSlot = {
  facts: DeviceFacts;
  /** The time of the request, ms. */
  nowMs: number;
} & /** With `isNew` no link has the key of the call, and one is made. */ (
  | { isNew: false; call: DeviceCall }
  | { isNew: true; call: NewKeyCall }
);

/** A key and the code of a link, which a fetch says are one customer's. */
export interface WantedTie {
  key: string;
  code: string;
}

/** The permission to forward a request, and the steps after the response. */
export interface Forwarding {
  /**
   * True for a token that only a subscription of the panel proves: the request is decided after it.
   * Until then it counts nothing, and its failures are guesses.
   */
  isUnproven: boolean;
  /** The slot to take; null: the request takes none. */
  slot: WantedSlot | null;
  /** True if the response must be a subscription for a slot: GET of a device without one. */
  takesSlot: boolean;
  /** True if a panel without a name may also prove the key by another response. */
  believesOther: boolean;
  /** The refusal of a device without a slot after a response that proves nothing. */
  unknown: DeniedLink;
  /** The key that a subscription of the panel proves; null: none names the link. */
  key: string | null;
  /** The key and code that a subscription of the panel ties; null: the request ties none. */
  tie: WantedTie | null;
  /** True if the address of the request alone names the link, and opens the page of its user. */
  opensMy: boolean;
  /** The link that would admit the device, which takes a slot; null: none yet, or no slot. */
  link: AdmittedDevice | null;
  /** True: the app sends no HWID, and shares a slot with its kind. */
  isShared: boolean;
  /** True if the device has its slot: it is seen even if the panel responds 304. */
  holdsSlot: boolean;
  /** True for a key or code without a link: a guess if the panel does not know it either. */
  isNewKey: boolean;
  /** True for an unlisted path without a key: a guess if the panel has nothing there. */
  isOtherPath: boolean;
  /** True if the response must be a page. */
  isForPage: boolean;
  /** True if the response is for every client. */
  isForAll: boolean;
}

/** A request that passes without a slot. */
export const WITHOUT_SLOT: Forwarding = {
  isUnproven: false,
  slot: null,
  key: null,
  tie: null,
  takesSlot: false,
  believesOther: false,
  unknown: unknownTo(ANY_HWID),
  opensMy: true,
  link: null,
  isShared: false,
  holdsSlot: false,
  isNewKey: false,
  isOtherPath: false,
  isForPage: false,
  isForAll: false,
};
export const FOR_ALL: Forwarding = { ...WITHOUT_SLOT, isForAll: true };
export const BY_OTHER_PATH: Forwarding = { ...FOR_ALL, isOtherPath: true };
export const FOR_PAGE: Forwarding = { ...WITHOUT_SLOT, isForPage: true };
