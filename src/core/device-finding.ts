/** The search of devices for operators: by a HWID, or a part of HWID or model. */

import type { Core } from './core.ts';
import { folded } from './fold.ts';
import { readHwid } from './formats.ts';
import { isRefused } from './outcome.ts';
import type { Device } from './port/device.ts';
import { nextTurn } from './turn.ts';

/** Devices of a read, about 3 ms on SQLite, and the most reads of a search. */
const READ_COUNT = 500;
const READS_MAX = 20;

/**
 * Finds devices, the newest first, and the id below which the search continues; null: the end.
 * Finds a whole HWID at once. A page may be empty although the search continues.
 */
export async function searchDevices(
  core: Core,
  { search, beforeId, countMax }: { search: string; beforeId: number | null; countMax: number },
): Promise<{ devices: Device[]; nextId: number | null }> {
  const given = search.trim();
  const exact = isRefused(readHwid(given)) ? null : await core.store.findDevice(given);
  if (exact !== null) return { devices: [exact.device], nextId: null };
  const wanted = folded(given);
  const devices: Device[] = [];
  let before = beforeId ?? Number.MAX_SAFE_INTEGER;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const read = await core.store.pageDevices(before, READ_COUNT);
    for (const device of read) {
      before = device.id;
      if (!folded(`${device.hwid}\n${device.deviceName}`).includes(wanted)) continue;
      devices.push(device);
      if (devices.length === countMax) return { devices, nextId: before };
    }
    if (read.length < READ_COUNT) return { devices, nextId: null };
    await nextTurn();
  }
  return { devices, nextId: before };
}
