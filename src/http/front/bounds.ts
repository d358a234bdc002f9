/** The most connections that pass a front. */
export const CONNECTIONS_MAX = 16_384;
/** The descriptors of each: one outside, two inside. */
export const DESCRIPTORS_PER_CONNECTION = 3;
