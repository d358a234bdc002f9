/** A phone that came back with a new HWID: apps that are installed anew make another one. */

/** A device, and when it was there. */
export interface Seen {
  hwid: string;
  deviceName: string;
  os: string;
  fromMs: number;
  lastSeenAtMs: number;
}

/**
 * Returns the slot that a newcomer seems to have had before: of the same model and system, and not
 * seen since the newcomer came. Of several, the one that was seen last. Null: there is none, or the
 * newcomer told no model.
 */
export function earlierSelf<S extends Seen>(
  newcomer: Pick<Seen, 'hwid' | 'deviceName' | 'os' | 'fromMs'>,
  slots: readonly S[],
): S | null {
  const { deviceName, fromMs, hwid, os } = newcomer;
  if (deviceName === '') return null;
  const silent = slots.filter(
    (slot) =>
      slot.hwid !== hwid &&
      slot.deviceName === deviceName &&
      slot.os === os &&
      slot.lastSeenAtMs <= fromMs,
  );
  return silent.sort((one, other) => other.lastSeenAtMs - one.lastSeenAtMs)[0] ?? null;
}
