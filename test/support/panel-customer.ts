/** A panel with one customer, whose phone is on her link, behind an appliance as the proxy. */

import { expect } from 'bun:test';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { answer, PANEL_HEADERS, SUBSCRIPTION } from './panel.ts';
import { API_TOKEN, type ApiUser, keyOf } from './panel-api.ts';
import { digestToken, macToken, SECRET } from './signing-panel.ts';
import { until } from './until.ts';
import { startFronted } from './upstream.ts';

export const ANNA: ApiUser = {
  id: 7,
  name: 'anna',
  key: '00000010-aaaa-4bbb-8ccc-d00000000000',
  isActive: true,
  createdAtMs: 1_700_000_000_000,
};

/** The address of her subscription. */
export function pathOf(panel: PanelKind): string {
  if (panel === 'marzban') return `/sub/${digestToken('anna,1790000000')}`;
  return `/sub/${panel === 'pasarguard' ? macToken('v3,7,1790000000') : ANNA.key}`;
}

/** Answers to a customer who ended, of each form that counts as a refusal. */
export const REFUSALS: Readonly<Record<PanelKind, () => Uint8Array>> = {
  remnawave: () => answer(404, ''),
  '3x-ui': () => answer(404, 'Error!'),
  pasarguard: () => answer(200, '', { ...PANEL_HEADERS, announce: 'base64:', 'announce-url': '' }),
  marzban: () => answer(200, '', PANEL_HEADERS),
  hiddify: () => answer(403, '{"message":"expired"}'),
};

/** A panel with Anna, her phone on her link, and the answers that a test chooses. */
export async function frontAnna(panel: PanelKind, more: Partial<Upstream> = {}) {
  const isSigned = panel === 'marzban' || panel === 'pasarguard';
  const signing = isSigned ? { key: panel, keySecretFile: '/secret' } : {};
  const said = { answer: answer(200, SUBSCRIPTION, PANEL_HEADERS) };
  const secretOf = (file: string) => (file === '/token' ? API_TOKEN : SECRET);
  const fronted = await startFronted(
    ({ send }) => send(said.answer),
    { panel, ...signing, ...more },
    { secretOf },
  );
  const keyHash = subscriptionKeyHash(keyOf(panel, ANNA));
  const get = (hwid: string | null = 'phone', headers = {}) =>
    fronted.get(pathOf(panel), hwid, headers);
  expect((await get()).status).toBe(200);
  const { store } = fronted.app.core;
  const provider = await store.findProvider(fronted.own.code);
  // Only their APIs know the ids of users: an import, or `follow`, ties the link.
  if (panel === 'remnawave' || panel === 'hiddify') {
    await store.notePanelUser(provider?.id ?? 0, keyHash, `${panel}:7`);
  }
  await until('the proof of the link', async () => {
    const tied = await store.findTiedLink(provider?.id ?? 0, keyHash);
    return tied?.panelUser?.startsWith(`${panel}:`);
  });
  const refuse = () => {
    said.answer = REFUSALS[panel]();
  };
  const admit = () => {
    said.answer = answer(200, SUBSCRIPTION, PANEL_HEADERS);
  };
  const providerId = provider?.id ?? 0;
  const linkId = (await store.findTiedLink(providerId, keyHash))?.id ?? 0;
  return { fronted, keyHash, linkId, providerId, get, refuse, admit, said };
}
