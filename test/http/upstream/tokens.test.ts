/** Tokens that a panel signs: the user is the link, and nobody else takes a place. */

import { afterEach, describe, expect, test } from 'bun:test';
import type { PanelKey } from '../../../src/core/panel/kind.ts';
import { parseTrustedProxies } from '../../../src/http/request/address.ts';
import { ACT } from '../../support/actor.ts';
import { call, type Reply, read } from '../../support/app.ts';
import { expectOk } from '../../support/shop.ts';
import {
  digestToken,
  MARZBAN_FORMS,
  OTHER_SECRET,
  PASARGUARD_FORMS,
  panelOf,
  SECRET,
} from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../../support/upstream.ts';

let at: Fronted;
afterEach(() => at.stop());

const NOW_S = 1_767_225_600;
const WITH_FILE = '/panel-secret';
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
  gateKey: 'marzban' as PanelKey,
  gateKeySecretFile: WITH_FILE,
  registrationsPerMinuteMax: 1_000,
  authFailuresPerMinuteMax: 100_000,
  secretOf: (file: string) => (file === WITH_FILE ? SECRET : null),
};

async function front(
  key: 'plain' | 'marzban' | 'pasarguard',
  keySecretFile: string,
  options: Parameters<typeof startFronted>[2] = {},
  more: Parameters<typeof startFronted>[1] = {},
): Promise<void> {
  at = await startFronted(
    panelOf(() => true),
    { key, keySecretFile, defaultLimit: 5, ...more },
    { ...OPTIONS, ...options },
  );
}

/** Asks at `/gate` as a proxy does. */
async function askGate(token: string, hwid: string | null): Promise<number> {
  return (await replyOfGate(token, hwid)).status;
}

function replyOfGate(token: string, hwid: string | null): Promise<Reply> {
  const headers = {
    'x-original-uri': `/sub/${token}`,
    'x-original-method': 'GET',
    'x-forwarded-host': HOST,
    'x-forwarded-for': '198.51.100.7',
    ...(hwid !== null && { 'x-hwid': hwid }),
  };
  return fetch(`${at.app.url}/gate`, { headers }).then(read);
}

const statusOf = async (token: string, hwid: string | null, headers = {}) =>
  (await at.get(`/sub/${token}`, hwid, headers)).status;

async function refusedOf(key: string): Promise<unknown[]> {
  await at.app.core.store.saveFigures();
  const { json } = await call(at.app, '/api/list-install', at.own, { subscription_key: key });
  const code = json.data[0].install_code;
  const refused = await call(at.app, '/api/list-refused', at.own, { install_code: code });
  return refused.json.data ?? [];
}

const addLinkOf = (key: string, limit = 5) =>
  expectOk(
    call(at.app, '/api/add-install', at.own, { install_limit: limit, subscription_key: key }),
  );

/** Five hundred tokens of 25 users, each with two devices. */
function* tokensOf(forms: typeof MARZBAN_FORMS, nameOf: (user: number) => string) {
  for (let count = 0; count < 500; count++) {
    const user = count % 25;
    const make = forms[(count >> 5) % forms.length];
    if (make) yield { token: make(nameOf(user), NOW_S + count), hwid: `phone-${count % 50}` };
  }
}

describe.each([
  ['the panel proves them', ''],
  ['the secret proves them', WITH_FILE],
])('tokens of users, where %s', (_way, file) => {
  test.each([
    ['marzban', MARZBAN_FORMS, (user: number) => `user_${user}`],
    ['pasarguard', PASARGUARD_FORMS, (user: number) => String(100 + user)],
  ] as const)('500 of 25 users of %s are 25 links', async (panel, forms, nameOf) => {
    await front(panel, file);
    for (const { token, hwid } of tokensOf([...forms], nameOf)) {
      expect(await statusOf(token, hwid)).toBe(200);
    }
    const links = await at.links();
    expect(links.map(({ count }) => count)).toEqual(Array.from({ length: 25 }, () => 2));
    expect(new Set(links.map(({ note }) => note)).size).toBe(25);
    expect(links.map(({ note }) => note)).toContain(`${HOST} ${nameOf(7)}`);
  });

  test('200 new devices with as many tokens of one user: five get in', async () => {
    await front('pasarguard', file);
    const asked = Array.from({ length: 200 }, (_, count) => {
      const make = PASARGUARD_FORMS[count % 3];
      return statusOf(make?.('7', NOW_S + count) ?? '', `phone-${count}`);
    });
    const got = await Promise.all(asked);
    expect(got.filter((status) => status === 200)).toHaveLength(5);
    expect(await at.links()).toMatchObject([{ count: 5, limit: 5 }]);
  });

  test('a forged one takes no place, is refused nowhere and shows nothing', async () => {
    await front('marzban', file);
    await addLinkOf('marzban/bob', 1);
    expect(await statusOf(digestToken(`bob,${NOW_S}`), 'own')).toBe(200);
    const forged = [
      digestToken(`bob,${NOW_S}`, OTHER_SECRET),
      MARZBAN_FORMS[1]?.('bob', NOW_S, OTHER_SECRET) ?? '',
    ];
    for (const hwid of ['own', 'stranger', null]) {
      for (const token of ['marzban', KEY]) expect(await statusOf(token, hwid)).toBe(404);
      const unknown = await at.get(`/sub/${digestToken('nobody,1', OTHER_SECRET)}`, hwid);
      for (const token of forged) {
        const got = await at.get(`/sub/${token}`, hwid);
        expect([got.status, got.body]).toEqual([404, unknown.body]);
        expect(got.headers.keys().toArray()).toEqual(unknown.headers.keys().toArray());
        expect(await statusOf(token, hwid, { Accept: 'text/html' })).toBe(404);
      }
    }
    expect(await at.links()).toMatchObject([{ count: 1 }]);
    expect(await refusedOf('marzban/bob')).toEqual([]);
    // A right one is refused as a device of the link, and is listed.
    expect(await statusOf(digestToken(`bob,${NOW_S + 1}`), 'stranger')).toBe(404);
    expect(await refusedOf('marzban/bob')).toMatchObject([{ hwid: 'stranger', count: 1 }]);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
  });

  test('forged ones are guesses: beyond a number the answer is late', async () => {
    await front('marzban', file, { authFailuresPerMinuteMax: 1 });
    const status = await statusOf(digestToken('bob,1', OTHER_SECRET), 'a');
    const late = statusOf(digestToken('bob,2', OTHER_SECRET), 'a');
    await until('the guess waits', () => at.app.clock.sleeperCount === 1);
    expect(await statusOf(digestToken(`bob,${NOW_S}`), 'a')).toBe(200);
    at.app.clock.advance(1_000);
    expect(await late).toBe(status);
    at.app.clock.advance(60_000);
    // A right token makes no guessed code a right one.
    const guess = () => statusOf(`${digestToken(`eve,${NOW_S}`)}?installid=Guess1234567`, 'a');
    expect(await guess()).toBe(404);
    const next = guess();
    await until('the guess waits', () => at.app.clock.sleeperCount === 1);
    at.app.clock.advance(1_000);
    expect(await next).toBe(404);
  });

  test('no code opens the subscription of another by a right token, nor any by a forged one', async () => {
    await front('marzban', file);
    await addLinkOf('marzban/bob', 1);
    const { json } = await call(at.app, '/api/add-install', at.own, { install_limit: 9 });
    const withCode = (token: string) => `${token}?installid=${json.install_code}`;
    expect(await statusOf(withCode(digestToken(`bob,${NOW_S}`)), 'a')).toBe(200);
    expect(await statusOf(withCode(digestToken(`bob,${NOW_S}`)), 'b')).toBe(404);
    expect(await statusOf(withCode(digestToken('bob,1', OTHER_SECRET)), 'b')).toBe(404);
    expect((await at.links()).map(({ count }) => count).sort()).toEqual([0, 1]);
  });
});

test('a link with a new code gets the key of its user again', async () => {
  await front('marzban', '');
  await addLinkOf('marzban/bob', 1);
  expect(await statusOf(digestToken(`bob,${NOW_S}`), 'a')).toBe(200);
  const { json } = await call(at.app, '/api/list-install', at.own, {});
  const { id } = json.data[0];
  await expectOk(call(at.app, '/api/revoke-install', at.own, { id }));
  expect(await statusOf(digestToken(`bob,${NOW_S}`), 'a')).toBe(404);
  const change = { id, subscription_key: 'marzban/bob' };
  await expectOk(call(at.app, '/api/update-install', at.own, change));
  expect(await statusOf(digestToken(`bob,${NOW_S}`), 'b')).toBe(200);
  expect(await at.links()).toMatchObject([{ count: 1, limit: 1 }]);
});

test('a plain key never opens the link of a token, nor a token that of a plain key', async () => {
  await front('plain', '');
  await addLinkOf('marzban/bob', 1);
  for (const path of ['marzban/bob', 'marzban%2fbob', 'bob', 'marzban']) await statusOf(path, 'a');
  const { json } = await call(at.app, '/api/list-install', at.own, {
    subscription_key: 'marzban/bob',
  });
  expect(json.data[0].install_count).toBe(0);
});

test('with the secret the panel is not asked about a forged one; without it knows only the panel', async () => {
  await front('marzban', WITH_FILE);
  await statusOf(digestToken('bob,1', OTHER_SECRET), 'a');
  expect(at.panel.calls).toHaveLength(0);
  const [upstream] = at.app.settings.gateUpstreams;
  if (upstream) at.app.settings.gateUpstreams = [{ ...upstream, keySecretFile: '' }];
  const cached = { 'If-None-Match': '"x"' };
  expect(await statusOf(digestToken(`bob,${NOW_S}`), 'a', cached)).toBe(200);
  // Or the panel could say "not changed", which proves nothing that Gatepost could judge.
  expect(at.panel.calls.at(-1)?.head.toLowerCase()).not.toContain('if-none-match');
});

describe('the page of users', () => {
  const askPage = async (token: string) => {
    const got = await at.get(`/my?link=${HOST}/sub/${token}`, null);
    return [got.status, got.body.includes('1 of 5')];
  };

  test.each([
    ['opens by a token that the secret proves', WITH_FILE],
    ['opens by no token that only the panel could prove', ''],
  ])('%s, and by no forged one', async (_what, file) => {
    await front('marzban', file);
    await at.app.core.store.updateProvider(at.own.code, { my: 1 }, ACT);
    const right = digestToken(`bob,${NOW_S}`);
    await at.get(`/sub/${right}`, 'own');
    const button = (await at.get(`/sub/${right}`, 'own')).headers.get('profile-web-page-url');
    const address = `http://${HOST}/my?link=${HOST}/sub/${right}`;
    expect(button).toBe(file === '' ? undefined : address);
    expect(await askPage(right)).toEqual(file === '' ? [404, false] : [200, true]);
    expect(await askPage(digestToken('bob,1', OTHER_SECRET))).toEqual([404, false]);
    expect(await askPage('marzban/bob')).toEqual([404, false]);
  });

  test('opens by a token of a host behind /gate', async () => {
    await front('plain', '');
    at.app.settings.gateUpstreams = [];
    await at.app.core.store.updateProvider(at.own.code, { my: 1 }, ACT);
    await addLinkOf('marzban/bob', 5);
    const right = digestToken(`bob,${NOW_S}`);
    expect(await askGate(right, 'own')).toBe(204);
    expect(await askPage(right)).toEqual([200, true]);
    expect(await askPage(digestToken('bob,1', OTHER_SECRET))).toEqual([404, false]);
  });
});

describe('behind /gate', () => {
  test.each([
    ['marzban', MARZBAN_FORMS, (user: number) => `user_${user}`, 'marzban/user_'],
    ['pasarguard', PASARGUARD_FORMS, (user: number) => String(100 + user), 'pasarguard/1'],
  ] as const)('500 tokens of 25 users of %s are 25 links', async (gateKey, forms, nameOf) => {
    await front('plain', '', { gateKey });
    for (let user = 0; user < 25; user++) await addLinkOf(`${gateKey}/${nameOf(user)}`);
    for (const { token, hwid } of tokensOf([...forms], nameOf)) {
      expect(await askGate(token, hwid)).toBe(204);
    }
    expect((await at.links()).map(({ count }) => count)).toEqual(
      Array.from({ length: 25 }, () => 2),
    );
  });

  test('a forged token costs nothing and is a guess; a right one is counted', async () => {
    await front('plain', '', { authFailuresPerMinuteMax: 1 });
    await addLinkOf('marzban/bob', 1);
    const [right, forged] = [digestToken(`bob,${NOW_S}`), digestToken('bob,1', OTHER_SECRET)];
    expect(await askGate(right, 'own')).toBe(204);
    expect(await askGate(forged, 'stranger')).toBe(403);
    const late = askGate(forged, null);
    await until('the guess waits', () => at.app.clock.sleeperCount === 1);
    at.app.clock.advance(1_000);
    expect(await late).toBe(403);
    at.app.clock.advance(60_000);
    const nameless = await replyOfGate(forged, null);
    expect(nameless.headers.get('x-hwid-not-supported')).toBe('true');
    expect(await refusedOf('marzban/bob')).toEqual([]);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
    expect(await askGate(right, 'stranger')).toBe(403);
  });

  test('200 new devices with as many tokens of one user: five get in', async () => {
    await front('plain', '');
    await addLinkOf('marzban/bob', 5);
    const got = await Promise.all(
      Array.from({ length: 200 }, (_, count) =>
        askGate(digestToken(`bob,${NOW_S + count}`), `phone-${count}`),
      ),
    );
    expect(got.filter((status) => status === 204)).toHaveLength(5);
    expect(await at.links()).toMatchObject([{ count: 5 }]);
  });

  test('no code opens a link beside a forged token, nor beside a plain key', async () => {
    await front('plain', '');
    const { json } = await call(at.app, '/api/add-install', at.own, { install_limit: 9 });
    for (const token of [digestToken('bob,1', OTHER_SECRET), KEY]) {
      expect(await askGate(`${token}?installid=${json.install_code}`, 'a')).toBe(403);
    }
    expect(await askGate(`?installid=${json.install_code}`, 'a')).toBe(204);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
  });

  test('a path with no plain key leaves the code to name the link', async () => {
    await front('plain', '', { gateKey: 'plain' });
    const { json } = await call(at.app, '/api/add-install', at.own, { install_limit: 9 });
    expect(await askGate(`a!b?installid=${json.install_code}`, 'a')).toBe(204);
  });

  test('a secret that is not read opens nothing, nor does a code beside a forged token', async () => {
    await front('plain', '', { secretOf: () => null });
    await addLinkOf('marzban/bob');
    const { json } = await call(at.app, '/api/add-install', at.own, { install_limit: 9 });
    expect(await askGate(digestToken(`bob,${NOW_S}`), 'a')).toBe(403);
    expect(await askGate(`${digestToken('bob,1')}?installid=${json.install_code}`, 'a')).toBe(403);
    expect((await at.links()).map(({ count }) => count)).toEqual([0, 0]);
  });
});
