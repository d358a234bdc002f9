/** A server with the callers that the cases in `conformance/` name. */

import { allCases } from '../../src/conformance/cases.ts';
import {
  type Caller,
  type CaseVerdict,
  type RunOptions,
  runCases,
} from '../../src/conformance/run.ts';
import type { Core } from '../../src/core/core.ts';
import { type Store, WriteFailed } from '../../src/core/port/store.ts';
import type { ProviderDraft } from '../../src/core/provider.ts';
import { seedProvider, startTestApp, type TestApp } from './app.ts';

/** What each caller is beside active, on the Enterprise plan, and free to have links. */
const CALLERS: Readonly<Record<string, Partial<ProviderDraft>>> = {
  own: {},
  other: {},
  pro: { plan: 'pro' },
  basic: { plan: 'basic' },
  full: { installCountMax: 1 },
  ended: { activeUntilMs: 0 },
};

/** Methods of the store that change what a case changes. */
const WRITES = /^(?:add|update|disable|activate|cancel|free)[A-Z]/;

export interface Conforming {
  app: TestApp;
  /** Plays cases by their names, all by default. */
  play(names?: readonly string[], own?: Partial<RunOptions>): Promise<CaseVerdict[]>;
  close(): Promise<void>;
}

/** Starts a server that delivers; its disk is full whenever a case wants that. */
export async function startConforming(): Promise<Conforming> {
  let isFull = false;
  const refuse = () => Promise.reject(new WriteFailed('the disk is full'));
  const wrap = (core: Core): Core => ({
    ...core,
    store: new Proxy(core.store, {
      get: (store, name) => {
        if (!isFull || !WRITES.test(String(name))) return Reflect.get(store, name).bind(store);
        if (name !== 'addDomain') return refuse;
        // That of a known hash writes nothing.
        return async (...[draft, act]: Parameters<Store['addDomain']>) => {
          const known = await store.findDomain(draft.providerId, draft.domainHash);
          return known === null ? refuse() : store.addDomain(draft, act);
        };
      },
    }),
  });
  const app = await startTestApp({ hasWorker: true }, wrap);
  const callers: Record<string, Caller> = {};
  for (const [name, draft] of Object.entries(CALLERS)) {
    const { code, authKey } = await seedProvider(app, { name, ...draft });
    callers[name] = { provider_code: code, auth_key: authKey };
  }
  const usual: RunOptions = {
    url: app.url,
    callers,
    writes: true,
    nowMs: app.clock.nowMs,
    sleep: Bun.sleep,
    bring: async () => {
      isFull = true;
      app.expectFault('the disk is full');
    },
  };
  return {
    app,
    play: async (names, own = {}) => {
      const verdicts: CaseVerdict[] = [];
      const cases = allCases().filter(({ name }) => names?.includes(name) ?? true);
      await runCases(cases, { ...usual, ...own }, (verdict) => {
        isFull = false;
        verdicts.push(verdict);
      });
      return verdicts;
    },
    close: () => app.close(),
  };
}
