import { expect, test } from 'bun:test';
import { bindHost } from '../../src/core/domain.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { type Store, withMethods } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider, startTestApp } from '../support/app.ts';

const HOST = 'sub.example.com';

test('a host is bound once; one that is known is looked at, and nothing is written', async () => {
  const app = await startTestApp();
  try {
    const { code } = await seedProvider(app);
    const provider = await app.core.store.findProvider(code);
    if (provider === null) throw new Error('the provider is not there');
    const nowMs = app.clock.nowMs();
    expect(await bindHost(app.core, provider, HOST, nowMs)).toBe('bound');

    const addDomain: Store['addDomain'] = () => Promise.reject(new Error('a write'));
    const core = { ...app.core, store: withMethods(app.core.store, { addDomain }) };
    expect(await bindHost(core, provider, HOST, nowMs)).toBe('active');
    const known = await core.store.findDomain(provider.id, hostHash(HOST));
    expect(known).toMatchObject({ domainName: HOST });
    await core.store.disableDomain(provider.id, known?.id ?? 0, ACT);
    expect(await bindHost(core, provider, HOST, nowMs)).toBe('disabled');
  } finally {
    await app.close();
  }
});
