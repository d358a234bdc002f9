/** A data directory with a provider, a binding and a link, for commands that look at links. */

import { loadConfig } from '../../src/config/load.ts';
import type { Core } from '../../src/core/core.ts';
import { openCore } from '../../src/parts/open-core.ts';
import { addDoor } from '../store/contract/fixture.ts';

/** The core on the data of `dataDir`, which it makes if they are not there. */
export async function openData(dataDir: string): Promise<Core> {
  const { config } = loadConfig({ dataDir }, { GATEPOST_CONFIG: 'none' });
  return openCore(config, true);
}

/** Makes the data, with what `more` puts into it. */
export async function makeLink<T>(
  dataDir: string,
  more: (core: Core, door: Awaited<ReturnType<typeof addDoor>>) => Promise<T>,
): Promise<T> {
  const core = await openData(dataDir);
  try {
    return await more(core, await addDoor(core.store));
  } finally {
    await core.store.close();
  }
}
