/** A device at the door of a link, as the calls of apps come from it. */

import type { Device } from '../../src/core/port/device.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call, type Reply, type TestApp } from './app.ts';
import { addLink, HASH, seedShop } from './shop.ts';

type Ask = (query: Record<string, string>, headers?: Record<string, string>) => Promise<Reply>;

export interface Newcomer {
  own: Credentials;
  /** A link for three devices. */
  code: string;
  hwid: string;
  install: Ask;
  checkIn: Ask;
  /** What is known of its HWID. */
  known(): Promise<Device | undefined>;
}

/** A HWID that nobody knows, with a provider, a link and a binding of its own. */
export async function newcomer(app: TestApp): Promise<Newcomer> {
  const own = await seedShop(app);
  const { code } = await addLink(app, own, null, 3);
  const hwid = `hwid-${code}`;
  return {
    own,
    code,
    hwid,
    install: (query, headers = {}) =>
      call(app, '/install', null, { id: HASH, installid: code, ...query }, { headers }),
    checkIn: (query, headers = {}) =>
      call(app, '/provider', null, { id: own.code, ...query }, { headers }),
    known: async () => (await app.core.store.findDevice(hwid))?.device,
  };
}
