/** The search for devices of a provider by a filter: its part of the port. */

import type { MixCursor } from './device-mix.ts';
import type { FiguresFilter } from './subscription-figures.ts';

/** The filter; each condition that is not null must hold. */
export interface DeviceSearch {
  os: string | null;
  appVersion: string | null;
  /** The first part of a BCP 47 tag, in lower case; only registered apps report one. */
  language: string | null;
  /** Seen at this time or later, UTC ms. */
  seenSinceMs: number | null;
  /** Last seen before this time, UTC ms. */
  unseenSinceMs: number | null;
  /** The binding from which the device checked in. */
  domainId: number | null;
  /** A part of the code or the note of one of its links, in any case and spelling. */
  link: string | null;
  /**
   * The figures of its home link, on which it has a slot; null or absent: any. A HWID is no secret:
   * what is sent for these figures rides on that link alone.
   */
  figures?: FiguresFilter | null;
}

/**
 * The devices of a message by filter: a search that is made when delivery begins, with times
 * counted from then. See core/message/segment.ts.
 */
export type Segment = DeviceSearch;

export interface SearchedDevice {
  hwid: string;
  deviceName: string;
  os: string;
  appVersion: string;
  /** The BCP 47 tag; null: the app reported none. */
  locale: string | null;
}

interface SearchedSlice {
  devices: SearchedDevice[];
  /** Where the search continues; null: at the end. */
  next: MixCursor | null;
}

export interface DeviceSearchStore {
  /** Searches the next thousand devices beyond a position for matching ones on links. */
  searchDevices(
    providerId: number,
    search: DeviceSearch,
    after: MixCursor | null,
  ): Promise<SearchedSlice>;
}
