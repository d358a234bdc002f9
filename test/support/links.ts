/** A data directory with a provider, a binding and a link, for commands that look at links. */

import { loadConfig } from '../../src/config/load.ts';
import { addBot, BOTS_MAX } from '../../src/core/bot.ts';
import type { Core } from '../../src/core/core.ts';
import { addDomain } from '../../src/core/domain.ts';
import { hostHash } from '../../src/core/host-name.ts';
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

/**
 * Trusts so many bots of a provider that no further one may be. Returns the words that try to add
 * one.
 */
export async function fillBots(core: Core, code: string): Promise<string[]> {
  const host = 'sub.example.com';
  const provider = await core.store.findProvider(code);
  if (provider === null) throw new Error(`there is no provider ${code}`);
  await addDomain(core, provider, hostHash(host), null, 1);
  for (let n = 0; n < BOTS_MAX; n++) await addBot(core, provider, { host, name: 'bot' }, 1);
  return ['bot', 'add', host, '--name', 'bot'];
}
