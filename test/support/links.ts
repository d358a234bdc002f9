/** A data directory with a provider, a binding and a link, for commands that look at links. */

import { loadConfig } from '../../src/config/load.ts';
import { addBot, BOTS_MAX } from '../../src/core/bot.ts';
import type { Core } from '../../src/core/core.ts';
import { addDomain } from '../../src/core/domain.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { openCore } from '../../src/parts/open-core.ts';
import { addDoor, addLink } from '../store/contract/fixture.ts';
import { ACT } from './actor.ts';
import { prepareData } from './empty-database.ts';

/** The core on the data of `dataDir`, which it makes if they are not there. */
export async function openData(dataDir: string): Promise<Core> {
  const { config } = loadConfig({ dataDir }, { GATEPOST_CONFIG: 'none' });
  await prepareData(dataDir);
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

/** Names as many HWIDs as a provider may, on other links. */
export async function nameMany({ store }: Core, { providerId }: { providerId: number }) {
  const hwids = Array.from({ length: 100 }, (_, n) => `phone-${n}`);
  for (let n = 0; n < 100; n++) {
    const installCode = `Named${String(n).padStart(7, '0')}`;
    await addLink(store, providerId, { installCode, installLimit: 100, installCountMax: 1_000 });
    const selector = { installCode, installId: null };
    await store.nameHwids(providerId, selector, hwids, 10_000, ACT);
  }
}

/** Makes the data, and returns the words of a command that names HWIDs for the link. */
export async function nameWords(
  dataDir: string,
  link: string,
  hwids: readonly string[],
  more: Parameters<typeof makeLink>[1] = async () => undefined,
): Promise<string[]> {
  await makeLink(dataDir, more);
  return ['link', 'name', link, ...hwids];
}
