/** The devices of a provider by system and app: their part of the port. */

/** Position in a list of devices: by system, then in the order in which they came. */
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
  /** Empty: an app that is not known. */
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
  /** Replaces what was counted of a provider before. */
  saveDeviceMix(providerId: number, mix: DeviceMix): Promise<void>;
  /** Reads what was counted last, most devices first; null: nothing was. */
  readDeviceMix(providerId: number): Promise<DeviceMix | null>;
}
