/**
 * Answers of Remnawave's API, which cannot be installed here. They are made up after the contract
 * that it publishes; test/panels/remnawave.test.ts compares them with its schemas.
 */

import { readText } from './tree.ts';

export const REMNAWAVE = 'test/fixtures/panels/remnawave-3.4.15';

const read = <T>(name: string) => JSON.parse(readText(`${REMNAWAVE}/${name}.json`)) as T;

interface Answer<T> {
  response: T;
}

interface HwidSettings {
  enabled: boolean;
  fallbackDeviceLimit: number;
  maxDevicesAnnounce: string | null;
}

interface User {
  id: number;
  shortUuid: string;
  username: string;
  status: string;
  hwidDeviceLimit: number | null;
  externalSquadUuid: string | null;
  createdAt: string;
  expireAt: string | null;
  trojanPassword: string;
  vlessUuid: string;
  ssPassword: string;
  subRevokedAt: string | null;
  trafficLimitBytes: number;
  userTraffic: { usedTrafficBytes: number };
}

/** The answers by the name of their file. */
export const ANSWERS = {
  user: read<Answer<User>>('user'),
  users: read<Answer<{ users: User[]; total: number }>>('users'),
  devices: read<Answer<{ devices: { hwid: string; userId: number }[]; total: number }>>('devices'),
  settings: read<Answer<{ hwidSettings: HwidSettings | null }>>('settings'),
  squad: read<Answer<{ uuid: string; hwidSettings: HwidSettings | null }>>('squad'),
  squads: read<Answer<{ externalSquads: { uuid: string }[]; total: number }>>('squads'),
  'no-user': read<{ message: string; errorCode: string }>('no-user'),
};

/** The answer about a user, with other fields. */
export const userAnswer = (more: Partial<User>) => ({
  response: { ...ANSWERS.user.response, ...more },
});

/** The answers about the HWID settings of the panel and of a squad. */
export const settingsAnswer = (hwidSettings: HwidSettings | null) => ({
  response: { ...ANSWERS.settings.response, hwidSettings },
});
export const squadAnswer = (hwidSettings: HwidSettings | null) => ({
  response: { ...ANSWERS.squad.response, hwidSettings },
});

export const hwidSettings = (fallbackDeviceLimit: number, enabled = true): HwidSettings => ({
  enabled,
  fallbackDeviceLimit,
  maxDevicesAnnounce: null,
});

/** The answer of a path of its API; null: it has no such path. */
export function answerOf(pathname: string): object | null {
  const { user, users, devices, settings, squad, squads } = ANSWERS;
  const paths: Readonly<Record<string, object>> = {
    [`/api/users/by-short-uuid/${user.response.shortUuid}`]: user,
    '/api/users': users,
    '/api/hwid/devices': devices,
    '/api/subscription-settings': settings,
    '/api/external-squads': squads,
    [`/api/external-squads/${squad.response.uuid}`]: squad,
  };
  return paths[pathname] ?? null;
}

/** Without these headers of a proxy that speaks HTTPS it closes the connection. */
export const isForwarded = (headers: Headers): boolean =>
  headers.get('x-forwarded-proto') === 'https' && headers.get('x-forwarded-for') !== null;
