/** What a demonstration begins with: two providers, and four hundred links. */

import type { Core } from '../core/core.ts';
import { addDomain } from '../core/domain.ts';
import { makeLinks } from '../core/link-make.ts';
import { isRefused } from '../core/outcome.ts';
import { addProvider } from '../core/provider.ts';
import { HOST, PROVIDERS } from './place.ts';

export interface DemoLink {
  id: number;
  code: string;
  limit: number;
}

export interface DemoProvider {
  code: string;
  authKey: string;
  links: DemoLink[];
}

/** The hash of the one domain that both providers bind. */
export const DOMAIN_HASH = new Bun.CryptoHasher('sha256').update(HOST).digest('hex');

const LINKS_EACH = 200;
const NOTES = ['Order', 'Family', 'Office', 'Trial', 'Annual', 'Gift', 'Friend'] as const;

/** Makes the providers with their links. */
export async function makeWorld(core: Core, nowMs: number): Promise<DemoProvider[]> {
  const made: DemoProvider[] = [];
  for (const { code, name } of PROVIDERS) {
    const terms = { plan: 'enterprise' as const, activeUntilMs: null, installCountMax: null };
    const added = await addProvider(core, { ...terms, code, name }, nowMs);
    const provider = await core.store.findProvider(code);
    if (isRefused(added) || provider === null) throw new Error(`${code} could not be added`);
    await addDomain(core, provider, DOMAIN_HASH, HOST, nowMs);
    const drafts = Array.from({ length: LINKS_EACH }, (_, n) => ({
      ...{ key: null, code: null, limit: 1 + (n % 4) },
      note: `${NOTES[n % NOTES.length]} ${1_000 + n}`,
    }));
    const links = await makeLinks(core, provider, drafts, nowMs);
    made.push({
      ...added,
      links: links.flatMap((one, n) =>
        one.done === 'added'
          ? [{ id: one.id, code: one.installCode, limit: drafts[n]?.limit ?? 1 }]
          : [],
      ),
    });
  }
  return made;
}
