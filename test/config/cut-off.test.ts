/** `cut_off` and `panel_admin` of upstreams: what they need, and who shares a panel. */

import { expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';

const UPSTREAM = {
  host: 'sub.example.org',
  url: 'http://127.0.0.1:8000',
  provider: 'Ab3dE5gH',
  default_limit: 3,
};
const OTHER = { ...UPSTREAM, host: 'two.example.org', provider: 'Another1' };
const CUTS = { panel: '3x-ui', panel_token_file: '/t', cut_off: true };

const loaded = (...upstreams: object[]) =>
  loadConfig({}, { GATEPOST_CONFIG: 'none', GATEPOST_GATE_UPSTREAM: JSON.stringify(upstreams) })
    .config.gateUpstreams;

function mistakes(...upstreams: object[]): string[] {
  try {
    loaded(...upstreams);
  } catch (error) {
    const lines = (error as Error).message.split('\n').map((line) => line.trim());
    return lines.filter((line) => !line.endsWith('errors in the configuration:'));
  }
  return [];
}

test.each([
  [{ cut_off: true }, 'cut_off needs panel, the kind of panel to ask'],
  [{ panel_admin: 'a' }, 'panel_admin needs cut_off = true'],
  [{ cut_off: true, panel: '3x-ui' }, 'cut_off needs panel_token_file, the token of its API'],
  [
    { ...CUTS, panel: 'marzban' },
    'panel = "marzban" needs key = "marzban": its API knows users, not tokens',
  ],
  [
    { cut_off: true, key: 'hiddify', panel_token_file: '/t' },
    'cut_off is not possible: the UUID of a user of Hiddify is also the key of the link: new credentials end the link',
  ],
])('cut-off needs a panel that can do it: %j', (keys, sentence) => {
  expect(mistakes({ ...UPSTREAM, ...keys })).toEqual([
    `gate.upstream: ${sentence} (sub.example.org)`,
  ]);
});

test('cut-off is off by default, and an empty panel_admin is all users', () => {
  expect(loaded(UPSTREAM)).toMatchObject([{ cutOff: false, panelAdmin: '' }]);
  const admin = { panel_admin: 'inbound:1,2' };
  expect(loaded({ ...UPSTREAM, ...CUTS, ...admin })).toMatchObject([
    { cutOff: true, panelAdmin: 'inbound:1,2' },
  ]);
});

test('at a panel of two providers each cuts off only with a panel_admin of its own', () => {
  const of = (name: string) => ({ ...CUTS, panel_admin: name });
  const sentence = (host: string) =>
    `gate.upstream: cut_off of ${host}: another provider has an upstream at this panel: set a panel_admin that it does not have`;
  const [one = '', two = ''] = ['sub.example.org', 'two.example.org'].map(sentence);
  expect(mistakes({ ...UPSTREAM, ...CUTS }, OTHER)).toEqual([one]);
  expect(mistakes({ ...UPSTREAM, ...of('a') }, OTHER)).toEqual([]);
  expect(mistakes({ ...UPSTREAM, ...of('a') }, { ...OTHER, ...CUTS })).toEqual([two]);
  expect(mistakes({ ...UPSTREAM, ...of('a') }, { ...OTHER, ...of('a') })).toEqual([one, two]);
  expect(mistakes({ ...UPSTREAM, ...of('a') }, { ...OTHER, ...of('b') })).toEqual([]);
  const same = { ...UPSTREAM, ...CUTS, host: 'two.example.org' };
  expect(mistakes({ ...UPSTREAM, ...CUTS }, same)).toEqual([]);
});
