/**
 * A customer of a panel who was deleted and made again under the same name: tokens of the earlier
 * one open nothing where Gatepost has the secret.
 */

import { afterEach, describe, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../../src/http/request/address.ts';
import { call } from '../../support/app.ts';
import { expectOk } from '../../support/shop.ts';
import { MARZBAN_FORMS, PASARGUARD_FORMS, panelOf, SECRET } from '../../support/signing-panel.ts';
import { type Fronted, HOST, keyPath, startFronted } from '../../support/upstream.ts';

const FILE = '/panel-secret';
const CREATED_S = 1_767_225_600;
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
  gateKeySecretFile: FILE,
  secretOf: (file: string) => (file === FILE ? SECRET : null),
};

let at: Fronted;
afterEach(() => at.stop());

/** Opens a link of two places whose user was made at a time, by the last import. */
async function given(key: 'marzban' | 'pasarguard', createdAtMs: number | null) {
  const terms = { key, keySecretFile: FILE, defaultLimit: 2 } as const;
  at = await startFronted(
    panelOf(() => true),
    terms,
    { ...OPTIONS, gateKey: key },
  );
  const subscriptionKey = key === 'marzban' ? 'marzban/anna' : 'pasarguard/7';
  const link = { install_limit: 2, subscription_key: subscriptionKey };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
  const facts = { installLimit: 2, status: 10, note: null, subscriptionKeyHash: null };
  const known = { ...facts, devicesUntilMs: 0, panelCreatedAtMs: createdAtMs };
  at.app.core.store.findPanelFacts = () => known as never;
}

async function atGate(token: string, hwid: string | null): Promise<number> {
  const headers = {
    'x-original-uri': `/sub/${token}`,
    'x-forwarded-host': HOST,
    'x-forwarded-for': '198.51.100.7',
    ...(hwid !== null && { 'x-hwid': hwid }),
  };
  const { status } = await fetch(`${at.app.url}/gate`, { headers });
  return status === 204 ? 200 : 404;
}
const atProxy = async (token: string, hwid: string | null) =>
  (await at.get(`/sub/${token}`, hwid)).status;

describe.each([
  ['the proxy', atProxy],
  ['the gate', atGate],
] as const)('at %s', (_door, ask) => {
  describe.each([
    ['marzban', 'anna', MARZBAN_FORMS],
    ['pasarguard', '7', PASARGUARD_FORMS],
  ] as const)('a token of %s', (key, user, forms) => {
    test('from before its user was made is refused, one of its time is not', async () => {
      await given(key, CREATED_S * 1_000 + 400);
      for (const make of forms) {
        expect(await ask(make?.(user, CREATED_S - 1) ?? '', 'stranger')).toBe(404);
        expect(await ask(make(user, CREATED_S - 86_400), null)).toBe(404);
      }
      expect(await at.links()).toMatchObject([{ count: 0 }]);
      expect(at.panel.calls).toEqual([]);
      for (const make of forms) expect(await ask(make?.(user, CREATED_S) ?? '', 'own')).toBe(200);
      expect(await at.links()).toMatchObject([{ count: 1 }]);
    });

    test('is not compared where no import noted the time, or for a device with a slot', async () => {
      await given(key, null);
      const [make] = forms;
      expect(await ask(make?.(user, 5) ?? '', 'own')).toBe(200);
      const later = (CREATED_S + 9) * 1_000;
      at.app.core.store.findPanelFacts = () => ({ panelCreatedAtMs: later }) as never;
      expect(await ask(make?.(user, 5) ?? '', 'own')).toBe(200);
      expect(await ask(make?.(user, 5) ?? '', 'stranger')).toBe(404);
      expect(await at.links()).toMatchObject([{ count: 1 }]);
    });
  });
});
