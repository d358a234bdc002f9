/** The devices of a provider by system and app: their part of the port. */

/** A position in a list of devices: by system, then in the order of arrival. */
export interface MixCursor {
  os: string;
  deviceId: number;
}

export interface MixDevice extends MixCursor {
  userAgent: string;
}

/** Devices of one system with one app. */
export interface MixCount {
  os: string;
  /** The app; empty: unknown. */
  app: string;
  count: number;
}

/** The counts of one UTC day, as days since 1970. */
export interface DeviceMix {
  day: number;
  counts: MixCount[];
}

export interface DeviceMixStore {
  /** Lists devices of a provider beyond a position; null: from the beginning. */
  listMixDevices(
    providerId: number,
    after: MixCursor | null,
    countMax: number,
  ): Promise<MixDevice[]>;
  /** Saves the counts of a provider in place of earlier ones. */
  saveDeviceMix(providerId: number, mix: DeviceMix): Promise<void>;
  /** Reads the last counts, most devices first; null: none. */
  readDeviceMix(providerId: number): Promise<DeviceMix | null>;
}
