/**
 * Sightings: things that the running server sees at panels and their users, and that `gatepost
 * doctor` explains. They hold no key, no token, no HWID and no address of a client.
 */

import type { Maybe } from './maybe.ts';

export type SightingKind =
  /** A page that passed a browser lists servers; the subject is their scheme. */
  | 'page_with_servers'
  /** An answer at a path of `pass_paths` lists servers; the subject is their scheme. */
  | 'pass_path_with_servers'
  /** A panel answered 2xx without a subscription; the subject is status and content type. */
  | 'no_subscription'
  /** Plain keys are UUIDs; the subject is the template. */
  | 'keys_are_uuids'
  /** A header that sends apps elsewhere was dropped; the subject is its name and the host. */
  | 'dropped_header'
  /** A line of a body sends apps elsewhere; the subject is its name and the host. */
  | 'moving_line'
  /** A panel asks apps for other HWIDs; the subject is empty. */
  | 'alternative_hwid'
  /** A panel serves a made-up key; the subject is empty. */
  | 'stranger_served';

/** The most subjects of a kind at a host; the first ones stay. */
export const SUBJECTS_MAX = 20;

export interface Sighting {
  /** The host of the upstream. */
  host: string;
  kind: SightingKind;
  /** One of the few things of its kind, up to 128 characters. */
  subject: string;
}

export interface SeenSighting extends Sighting {
  count: number;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
}

export interface SightingStore {
  /**
   * Counts a sighting in memory; `saveFigures` saves it. Never waits, never throws. Beyond {@link
   * SUBJECTS_MAX} subjects of a kind at a host it counts nothing.
   */
  noteSighting(sighting: Sighting, atMs: number, count?: number): void;
  /** Lists the saved sightings by host, kind and subject. */
  listSightings(): Maybe<SeenSighting[]>;
  /** Deletes sightings that were last seen before a time. Returns false if there were none. */
  forgetSightings(beforeMs: number): Promise<boolean>;
}
