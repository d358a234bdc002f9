/** A provider behind a panel that cuts links off: its key for that, its links and their calls. */

import { afterEach, beforeEach, expect } from 'bun:test';
import type { Scope } from '../../src/core/port/provider-key.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { hashKey, subscriptionKeyHash } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from './actor.ts';
import { call } from './app.ts';
import { type CutPanel, cutPanel, cutterOf } from './cut-panel.ts';
import { until } from './until.ts';
import { type Fronted, KEY, keyPath, startFronted } from './upstream.ts';

export const MY = { myPath: '/my', myUrl: 'https://my.example.com' };

/** One of a test, which {@link useCutShop} started. */
export class CutShop {
  at!: Fronted;
  panel!: CutPanel;
  worker!: ReturnType<typeof cutterOf>;
  /** The provider with its key for cutting off. */
  cuts!: Credentials;

  async start(): Promise<void> {
    this.at = await startFronted(
      undefined,
      { cutOff: true, panel: '3x-ui', panelTokenFile: '/token', defaultLimit: 5 },
      {
        ...MY,
        trustedProxies: parseTrustedProxies(['127.0.0.1']),
        gateKeyPaths: [keyPath('/sub/{key}')],
      },
    );
    this.shareUpstreams();
    this.panel = cutPanel();
    this.worker = cutterOf(this.at.app, this.panel);
    this.cuts = await this.keyFor('cuts');
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    await this.at.stop();
  }

  /** In the appliance both are the settings. */
  shareUpstreams = () => {
    const { core, settings } = this.at.app;
    Object.assign(core.limits, { gateUpstreams: settings.gateUpstreams });
  };

  keyFor = async (scope: Scope): Promise<Credentials> => {
    const { store } = this.at.app.core;
    const { code } = this.at.own;
    const provider = await store.findProvider(code);
    const authKey = `${scope}-${'k'.repeat(32)}`.slice(0, 32);
    const terms = { name: scope, scope, untilMs: null, createdAtMs: 0, countMax: 9 };
    await store.addKey({ providerId: provider?.id ?? 0, keyHash: hashKey(authKey), ...terms }, ACT);
    return { code, authKey };
  };

  /** The link of a key, which a fetch of each phone made and proved. */
  proved = async (phones = ['a', 'b', 'c'], key = KEY) => {
    for (const phone of phones) {
      expect((await this.at.get(`/sub/${key}`, phone)).status).toBe(200);
    }
    const { store } = this.at.app.core;
    const [link] = await store.findLinksByKey(subscriptionKeyHash(key));
    if (link === undefined) throw new Error('there is no such link');
    const selector = { installCode: null, installId: link.id };
    // Proofs do not delay answers.
    await until('the link is proved', async () => {
      return (await store.findCutFacts(link.providerId, selector))?.provedBy.length;
    });
    return link;
  };

  /** Frees a device and cuts its link off. */
  cut = async (hwid: string, installId: number, by = this.cuts) => {
    const { json, headers } = await call(this.at.app, '/api/delete-hwid', by, {
      install_id: installId,
      hwid,
      cut_off: 1,
    });
    return { json, state: headers.get('x-cut-off') };
  };

  listed = async (query: Record<string, string | number> = {}) => {
    const { json } = await call(this.at.app, '/api/list-cuts', this.at.own, query);
    return json.data as Record<string, unknown>[];
  };
}

/** Starts one for each test of this file. Its fields are there in tests, its methods at once. */
export function useCutShop(): CutShop {
  const shop = new CutShop();
  beforeEach(() => shop.start());
  afterEach(() => shop.stop());
  return shop;
}
