/** The contents of a bench database. `load.lua` computes the same codes, keys and HWIDs. */
export interface Shape {
  name: string;
  providerCount: number;
  /** A multiple of `deviceCount`: device d is on link d × (linkCount / deviceCount). */
  linkCount: number;
  deviceCount: number;
  /** Links that a provider adds in a row before another provider's turn; 1: fully interleaved. */
  run: number;
}

/** As `scatter` in load.lua: neighbours in time are strangers in an index. */
export const SCATTER_FACTOR = 48_271;
export const SCATTER_MODULUS = 2_147_483_647;

export const providerCode = (n: number) => `P${String(n).padStart(7, '0')}`;
export const authKey = (n: number) => `bench-key-${String(n).padStart(22, '0')}`;
export const domainHash = (n: number) => String(n).padStart(64, '0');
