/** The limit of a user as a panel computes it, for imports and for the door alike. */

/** A limit of devices; `unlimited`; null: the panel sets none for this user. */
export type PanelLimit = number | 'unlimited' | null;

/** The settings of a panel for users without a limit of their own. */
export interface HwidSettings {
  /** False: the panel counts no devices. */
  readonly isOn: boolean;
  /** The limit of such users; null: none. */
  readonly fallback: number | null;
}

/** In all panels 0 means no limit. */
export const zeroIsUnlimited = (count: number | null): PanelLimit =>
  count === 0 ? 'unlimited' : count;
