/** The phones that send one HWID: their records and their part of the port. See core/phones.ts. */

import type { Phone } from '../phones.ts';
import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { SlotKey } from './slot.ts';

/** A phone of a slot of a link. */
export interface SlotPhone extends Omit<Phone, 'modelHash'> {
  /** The HWID that it sends. */
  hwid: string;
  /** The HWID of the device that it is under `copied_hwid` `count`; null: it never was one. */
  ownHwid: string | null;
  /** The model, if the phone came last; empty: it is not known. */
  model: string;
}

export interface PhoneStore {
  /** Lists the phones of the slots of a link that saw more than one, by HWID and number. */
  listPhones(installId: number): Maybe<SlotPhone[]>;
  /**
   * Marks the further phones of a slot as those of the same person: none of them is told, counted
   * or refused any more. Slots of their own stay until they end. Returns false if there are none.
   */
  ignorePhones(
    link: { providerId: number; installId: number },
    hwid: string,
    act: Act,
  ): Promise<boolean>;
  /**
   * Saves what a call that its link refused says of known phones: that one was seen, once a UTC
   * day, or is certain. Returns false if it says nothing new. The key has a sight.
   */
  seePhone(key: SlotKey, nowMs: number): Promise<boolean>;
  /**
   * Adds the event with the number of copied HWIDs of an earlier day than `day` of which a provider
   * was not told one by one. Returns false if no provider has such.
   */
  endCopied(day: number, nowMs: number): Promise<boolean>;
  /** Deletes some phones that were not seen since a time. Returns false if there were none. */
  forgetPhones(seenBeforeMs: number): Promise<boolean>;
}
