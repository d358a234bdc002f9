/** The initial data of a demonstration: two providers, four hundred links, two weeks of history. */

import { DAY_MS } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import { addDomain } from '../core/domain.ts';
import { admitDevice } from '../core/door.ts';
import { makeLinks } from '../core/link-make.ts';
import { isRefused } from '../core/outcome.ts';
import { addProvider } from '../core/provider.ts';
import { type DemoProvider, modelOf, phonesOf } from './phones.ts';
import { HOST, PROVIDERS } from './place.ts';

/** The hash of the domain that both providers bind. */
export const DOMAIN_HASH = new Bun.CryptoHasher('sha256').update(HOST).digest('hex');

const LINKS_EACH = 200;
const NOTES = ['Order', 'Family', 'Office', 'Trial', 'Annual', 'Gift', 'Friend'] as const;

/** The number of days of history. */
const DAYS = 14;

/** Adds the providers with their links, and the devices of the last two weeks. */
export async function makeWorld(core: Core, nowMs: number): Promise<DemoProvider[]> {
  const providers = await makeProviders(core, nowMs - DAYS * DAY_MS);
  const phones = phonesOf(providers).filter(({ n }) => n % 3 !== 1);
  for (let day = DAYS - 1; day >= 0; day--) {
    for (const { hwid, link, n } of phones.filter(
      (_, at) => (at * 11 + Math.floor(at / 8)) % DAYS === day,
    )) {
      const { app, model, os } = modelOf(n);
      const facts = { os, osVersion: '', deviceName: model, appVersion: '', userAgent: app };
      const call = { installCode: link.code, domainHash: DOMAIN_HASH, hwid };
      await admitDevice(core, call, facts, nowMs - day * DAY_MS);
    }
  }
  return providers;
}

async function makeProviders(core: Core, nowMs: number): Promise<DemoProvider[]> {
  const made: DemoProvider[] = [];
  for (const { code, name } of PROVIDERS) {
    const terms = { plan: 'enterprise' as const, activeUntilMs: null, installCountMax: null };
    const added = await addProvider(core, { ...terms, code, name }, nowMs);
    const provider = await core.store.findProvider(code);
    if (isRefused(added) || provider === null) throw new Error(`${code} could not be added`);
    await addDomain(core, provider, DOMAIN_HASH, HOST, nowMs);
    const drafts = Array.from({ length: LINKS_EACH }, (_, n) => ({
      key: null,
      code: null,
      limit: 1 + (n % 4),
      note: `${NOTES[n % NOTES.length]} ${1_000 + n}`,
    }));
    const links = await makeLinks(core, provider, drafts, nowMs);
    made.push({
      ...added,
      links: links.flatMap((one, n) =>
        one.done === 'added' ? [{ id: one.id, code: one.code, limit: drafts[n]?.limit ?? 1 }] : [],
      ),
    });
  }
  return made;
}
