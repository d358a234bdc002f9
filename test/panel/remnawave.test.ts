/** Remnawave's API by its contract: what an import and the door read of its answers. */

import { afterAll, expect, test } from 'bun:test';
import { type AskPanel, settingsBy } from '../../src/core/panel/api.ts';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { panelApiUser, panelLimitOf } from '../../src/core/panel/user.ts';
import { readPanelApi } from '../../src/panel/panel-api.ts';
import { READING } from '../support/reading.ts';
import {
  ANSWERS,
  answerOf,
  hwidSettings,
  isForwarded,
  settingsAnswer,
  squadAnswer,
  userAnswer,
} from '../support/remnawave.ts';

const TOKEN = 'secret-token';
const api = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch({ headers, url }) {
    // It would close the connection.
    if (!isForwarded(headers)) return new Response('', { status: 418 });
    if (headers.get('authorization') !== `Bearer ${TOKEN}`)
      return new Response('', { status: 401 });
    const answer = answerOf(new URL(url).pathname);
    return answer === null ? Response.json({}, { status: 404 }) : Response.json(answer);
  },
});
afterAll(() => api.stop(true));

test('an import reads its users with their limits and devices', async () => {
  const { rows, view } = await readPanelApi('remnawave', {
    url: `http://127.0.0.1:${api.port}`,
    token: TOKEN,
    headers: {},
    callsPerSecondMax: 1e6,
    userAgent: 'test',
    ...READING,
    sleep: async () => {},
    onProgress: () => {},
  });
  const users = [...PANEL_TRAITS.remnawave.database.readUsers(rows)];
  expect(view).toBe('');
  expect(
    users.map(({ id, key, note, limit, isDisabled, devices }) => [
      ...[id, key, note, limit, isDisabled],
      devices.map(({ hwid }) => hwid),
    ]),
  ).toEqual([
    ['1', 'a1b2c3d4e5f6g7h8', 'anna', 2, false, ['phone-of-anna', 'tablet-of-anna']],
    // By its squad, and by the settings of the panel.
    ['2', 'b1b2c3d4e5f6g7h8', 'boris · Борис · 李 · علی', 6, true, ['phone-of-boris']],
    ['3', 'c1b2c3d4e5f6g7h8', 'vera', 4, false, []],
    ['4', 'd1b2c3d4e5f6g7h8', 'gleb', null, false, []],
  ]);
  expect(users[0]).toMatchObject({
    createdAtMs: Date.parse('2026-07-01T10:00:00Z'),
    devices: [{ os: 'Android', osVersion: '15', deviceName: 'Pixel 9', userAgent: 'Happ/3.1' }, {}],
  });
});

const KEY = ANSWERS.user.response.shortUuid;
const squadId = ANSWERS.squad.response.uuid;
const answering =
  (more: Readonly<Record<string, object>>): AskPanel =>
  async (path) =>
    more[path] ?? answerOf(path);
const USER = `/api/users/by-short-uuid/${KEY}`;

test('the door reads who is active, and the limit of a user, its squad and the panel', async () => {
  const limitOf = async (more: Readonly<Record<string, object>>) => {
    const ask = answering(more);
    return panelLimitOf('remnawave', await panelApiUser('remnawave', KEY, ask), settingsBy(ask));
  };
  const inSquad = userAnswer({ hwidDeviceLimit: null, externalSquadUuid: squadId });
  const settings = '/api/subscription-settings';
  const squad = `/api/external-squads/${squadId}`;
  expect([
    await limitOf({}),
    await limitOf({ [USER]: userAnswer({ hwidDeviceLimit: 0 }) }),
    await limitOf({ [USER]: userAnswer({ hwidDeviceLimit: null }) }),
    await limitOf({ [USER]: inSquad }),
    await limitOf({ [USER]: inSquad, [squad]: squadAnswer(null) }),
    await limitOf({
      [USER]: userAnswer({ hwidDeviceLimit: null }),
      [settings]: settingsAnswer(hwidSettings(5, false)),
    }),
  ]).toEqual([2, 'unlimited', 4, 6, 4, null]);
  for (const { status } of ANSWERS.users.response.users) {
    const user = await panelApiUser(
      'remnawave',
      KEY,
      answering({ [USER]: userAnswer({ status }) }),
    );
    expect([status, user?.isActive, user?.id]).toEqual([status, status === 'ACTIVE', '1']);
  }
});
