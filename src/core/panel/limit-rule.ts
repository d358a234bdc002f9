/**
 * The limit of a user as each panel computes it, for imports and for the door alike. Written after
 * the sources of Remnawave 3.3.2 (`modules/subscription`), 3x-ui after 3.6.0
 * (`service/client_hwid.go`) and PasarGuard 5.2.1 (`resolve_effective_hwid_settings`).
 */

/** A limit of devices; `unlimited`; null: the panel sets none for this user. */
export type PanelLimit = number | 'unlimited' | null;

/** The settings of a panel for users without a limit of their own. */
export interface HwidSettings {
  /** False: the panel counts no devices. */
  readonly isOn: boolean;
  /** The limit of such users; null: none. */
  readonly fallback: number | null;
}

/** The settings in the role of an admin of PasarGuard; `override`: they replace those of all. */
export interface HwidRole {
  readonly mode: unknown;
  readonly fallback: number | null;
}

/** In all panels 0 means no limit. */
const zeroIsUnlimited = (count: number | null): PanelLimit => (count === 0 ? 'unlimited' : count);

/** `settings`: those of the user's external squad, else of the panel; null: there are none. */
export function remnawaveLimit(own: number | null, settings: HwidSettings | null): PanelLimit {
  if (own !== null) return zeroIsUnlimited(own);
  return settings?.isOn ? zeroIsUnlimited(settings.fallback) : null;
}

/**
 * Returns the largest limit of the enabled clients of a subscription. Without any it opens nothing;
 * the limits of all of them count, so that the link keeps its limit until one is enabled again.
 */
export function threeXUiLimit(
  clients: readonly { isEnabled: boolean; limit: number | null }[],
): PanelLimit {
  const enabled = clients.filter(({ isEnabled }) => isEnabled);
  const asked = enabled.length > 0 ? enabled : clients;
  return zeroIsUnlimited(asked.reduce((most, { limit }) => Math.max(most, limit ?? 0), 0));
}

export function pasarguardLimit(
  own: number | null,
  role: HwidRole,
  settings: HwidSettings,
): PanelLimit {
  if (own !== null) return zeroIsUnlimited(own);
  if (role.mode === 'disabled') return null;
  const overrides = role.mode === 'override';
  if (!overrides && !settings.isOn) return null;
  // Neither has a number: the panel admits all.
  return zeroIsUnlimited((overrides ? role.fallback : null) ?? settings.fallback ?? 0);
}

/** `max_ips` of Hiddify that is no limit: neither its form nor its API sets another. */
export const MAX_IPS_MEANING_NONE = 100;

export function hiddifyLimit(own: number | null): PanelLimit {
  return own === MAX_IPS_MEANING_NONE ? null : zeroIsUnlimited(own);
}
