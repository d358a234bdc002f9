/** The doctor about links that imports disabled: how many, and which way they come back. */

import { describe, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { checkApis, checkDisabled } from '../../src/doctor/panel-api.ts';
import { API_TOKEN, startPanelApi } from '../support/panel-api.ts';

const UPSTREAM = {
  host: 'sub.example.org',
  url: 'http://127.0.0.1:1',
  provider: 'MYSHOP01',
  default_limit: 3,
};

const configWith = (more: object, env: Record<string, string> = {}) =>
  loadConfig(
    {},
    {
      GATEPOST_CONFIG: 'none',
      ...env,
      GATEPOST_GATE_UPSTREAM: JSON.stringify([{ ...UPSTREAM, ...more }]),
    },
  ).config;

const GATE = {
  GATEPOST_GATE_PANEL: 'hiddify',
  GATEPOST_GATE_PANEL_URL: 'http://127.0.0.1:1',
  GATEPOST_GATE_PANEL_TOKEN_FILE: '/token',
};
const ASKED = { panel: 'marzban', key: 'marzban', panel_token_file: '/token' };
const BY_COMMAND = 'gatepost link enable --disabled-by-import --provider';

describe('links that an import disabled', () => {
  test.each([
    ['by the API of the upstream', configWith(ASKED), 'MYSHOP01', 'once the API of the panel'],
    ['by the API of the gate', configWith({}, GATE), 'MYSHOP01', 'once the API of the panel'],
    ['by hand, or panel of the upstream', configWith({}), 'MYSHOP01', 'panel_token_file of gate'],
    // A token without keys whose users the API knows asks nothing.
    [
      'by hand, if the API does not know the keys',
      configWith({ panel: 'marzban', panel_token_file: '/token' }),
      ...(['MYSHOP01', 'enables them with --all'] as const),
    ],
    ['by hand, or gate.panel', configWith({}), 'OTHER001', 'or set gate.panel'],
  ])('come back %s', (_, config, code, todo) => {
    const [found] = checkDisabled([{ code, count: 2 }], config);
    const what = `an import disabled 2 links of provider ${code}, and their devices are refused`;
    expect([found?.level, found?.what]).toEqual(['warning', what]);
    expect(found?.todo).toContain(todo);
    expect(found?.todo).toContain(`${BY_COMMAND} ${code}`);
    expect(checkDisabled([], config)).toEqual([]);
  });
});

test('each API that the settings name is asked, that of the gate too', async () => {
  const api = startPanelApi('hiddify', []);
  const env = { ...GATE, GATEPOST_GATE_PANEL_URL: api.url };
  const config = configWith({ panel: 'hiddify', panel_url: api.url, panel_token_file: '/t' }, env);
  const look = async (secretOf: (file: string) => string | null) =>
    (await checkApis(config, secretOf)).map(({ level, what }) => `${level}: ${what}`);
  expect(await look(() => API_TOKEN)).toEqual([
    'ok: the API of the panel of sub.example.org answers',
    'ok: the API of gate.panel answers',
  ]);
  expect(await look((file) => (file === '/t' ? null : 'another-token'))).toEqual([
    'warning: the API of gate.panel refuses the token (API_401)',
  ]);
  await api.stop();
});
