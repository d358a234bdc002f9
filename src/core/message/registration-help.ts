/** The help for a device that a full link refused at its registration. */

import type { Core } from '../core.ts';
import { readDomainHash, readInstallCode } from '../formats.ts';
import { myUrlOf } from '../my.ts';
import { isRefused } from '../outcome.ts';
import type { Registration } from './registration.ts';

interface FullLinkHelp {
  limit: number;
  /** The page where the user frees a slot; null: the provider has none. */
  freeUrl: string | null;
}

/** Finds the limit of the link that refused a registration, and its page; null: it is gone. */
export async function helpAtFullLink(
  core: Core,
  { hwid, installCode, domainHash }: Pick<Registration, 'hwid' | 'installCode' | 'domainHash'>,
  nowMs: number,
): Promise<FullLinkHelp | null> {
  const code = readInstallCode(installCode);
  const hash = readDomainHash(domainHash);
  if (isRefused(code) || isRefused(hash)) return null;
  const door = await core.store.findSlot({ installCode: code, domainHash: hash, hwid });
  if (typeof door === 'string') return null;
  const { installId: id, installLimit: limit, providerCode } = door.link;
  const provider = await core.store.findProvider(providerCode);
  const link = { id, installCode: code };
  return { limit, freeUrl: provider && myUrlOf(core, provider, link, nowMs) };
}
