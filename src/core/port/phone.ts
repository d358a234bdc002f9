/** The phones that send one HWID: their records and their part of the port. See core/phones.ts. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/**
 * Where a device asked: `install` is `/install` and `/provider`, `subscription` the gate and the
 * proxy, `device` the device protocol. One app may spell its facts differently at each.
 */
export type PhoneDoor = 'install' | 'subscription' | 'device';

/** The traits that tell phones apart; an empty text: not known. */
export interface PhoneTraits {
  /** Empty: the facts were reported before doors were kept. */
  door: PhoneDoor | '';
  /** The family of the operating system: `ios`, `android`, `windows` and so on. */
  family: string;
  /** The name of a known app. */
  app: string;
  /** The keyed hash of the model without its spelling; after `i:` that of Apple's identifier. */
  modelHash: string;
}

/**
 * `first`: came first, at its door. `pending`: a further one, or a replaced one. `hint`: perhaps a
 * further one. `certain`: a further one. `ignored`: staff said that it is the same person's.
 */
export type PhoneState = 'first' | 'pending' | 'hint' | 'certain' | 'ignored';

/** A phone of a slot. */
export interface Phone extends PhoneTraits {
  /** 1: that of the slot's facts. `derivedHwid` has the number of a further one. */
  number: number;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
  state: PhoneState;
}

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
  /** Returns whether a HWID is that of a further phone of another HWID, on any link. */
  isDerivedHwid(hwid: string): Maybe<boolean>;
  /**
   * Marks the further phones of a slot as those of one person: they cause no event, take no slot
   * and are not refused any more. Slots of their own stay until they end. Returns false if there
   * are none.
   */
  ignorePhones(
    link: { providerId: number; installId: number },
    hwid: string,
    act: Act,
  ): Promise<boolean>;
  /**
   * Adds the event with the number of copied HWIDs of an earlier day than `day` of which a provider
   * was not told one by one. Returns false if no provider has such.
   */
  endCopied(day: number, nowMs: number): Promise<boolean>;
  /** Lists the HWIDs that further phones of a HWID have on any link. */
  listDerived(hwid: string): Promise<string[]>;
  /** Deletes some phones that were not seen since a time. Returns false if there were none. */
  forgetPhones(seenBeforeMs: number): Promise<boolean>;
  /** Deletes what some bars have of phones. Returns false if none had anything. */
  forgetBarredPhones(): Promise<boolean>;
}
