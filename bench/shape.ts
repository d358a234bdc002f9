/** The contents of a bench database. `load.lua` computes the same codes, keys and HWIDs. */
export interface Shape {
  providerCount: number;
  /** A multiple of `deviceCount`: device d is on link d × (linkCount / deviceCount). */
  linkCount: number;
  deviceCount: number;
  /** Links that a provider adds in a row before another provider's turn; default 1: interleaved. */
  run?: number;
  /** More devices, which came in through a binding. */
  boundCount?: number;
}

/** As `scatter` in load.lua: neighbours in time are strangers in an index. */
export const SCATTER_FACTOR = 48_271;
export const SCATTER_MODULUS = 2_147_483_647;
const scatter = (n: number) => (n * SCATTER_FACTOR) % SCATTER_MODULUS;

export const HWID_END = '-0000-4000-8000-000000000000';
export const linkCode = (n: number) => `gp${String(scatter(n)).padStart(10, '0')}`;
export const hwidOf = (n: number) => `${scatter(n).toString(16).padStart(8, '0')}${HWID_END}`;
export const providerCode = (n: number) => `P${String(n).padStart(7, '0')}`;
export const authKey = (n: number) => `bench-key-${String(n).padStart(22, '0')}`;
export const domainHash = (n: number) => String(n).padStart(64, '0');

/** The facts that a device sends, as in load.lua. */
export const DEVICE = {
  'user-agent': 'BenchApp/1.0',
  'x-device-os': 'Android',
  'x-ver-os': '16',
  'x-device-model': 'Bench Phone',
  'x-app-version': '1.0',
};
