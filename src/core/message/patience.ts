/** Bounds of the silence that a device may ask for. */

/** The longest wait of a poll that a device may ask for and an operator may allow, s. */
export const POLL_SECONDS_MAX = 300;

/** The seconds between two pings of a stream for which a device may ask. */
export const PING_SECONDS = { min: 15, max: 600 } as const;
