/**
 * Remnawave cannot be installed here. Its answers in `test/fixtures`, and what Gatepost asks, are
 * compared with the contract that it publishes as an npm package. Without a network there is none,
 * and the tests are skipped with a sentence.
 */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { cleanUp, temporaryFolder } from '../support/process.ts';
import { ANSWERS, answerOf, REMNAWAVE } from '../support/remnawave.ts';

setDefaultTimeout(60_000);
afterAll(cleanUp);

const PACKAGE = '@remnawave/backend-contract';
const VERSION = REMNAWAVE.slice(REMNAWAVE.lastIndexOf('-') + 1);

interface Schema {
  parse(value: unknown): unknown;
}
interface Command {
  ResponseSchema: Schema;
  RequestQuerySchema: Schema;
}
interface Contract {
  REST_API: {
    USERS: {
      GET: string;
      GET_BY_ID(id: string): string;
      GET_BY: { SHORT_UUID(key: string): string };
      ACTIONS: { REVOKE_SUBSCRIPTION(id: string): string };
    };
    HWID: { GET_ALL_HWID_DEVICES: string };
    SUBSCRIPTION_SETTINGS: { GET: string };
    EXTERNAL_SQUADS: { GET: string; GET_BY_UUID(uuid: string): string };
  };
  ERRORS: Record<string, { code: string; message: string; httpCode: number }>;
  USERS_STATUS: Record<string, string>;
  /** Its own name for the headers of a proxy that speaks HTTPS. */
  REMNAWAVE_BYPASS_HTTPS_RESTRCTIONS: Record<string, string>;
  GetUserByShortUuidCommand: Command;
  GetUserByIdCommand: Command;
  RevokeUserSubscriptionCommand: Command & { RequestBodySchema: Schema };
  GetUsersCommand: Command;
  GetHwidDevicesCommand: Command;
  GetSubscriptionSettingsCommand: Command;
  GetExternalSquadsCommand: Command;
  GetExternalSquadByUuidCommand: Command;
}

/** Fetches the contract from its registry; null, and a sentence, without a network. */
async function fetched(): Promise<Contract | null> {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ dependencies: { [PACKAGE]: VERSION } }),
  );
  const made = Bun.spawnSync([process.execPath, 'install', '--ignore-scripts'], { cwd: folder });
  if (made.exitCode === 0) return import(join(folder, 'node_modules', PACKAGE));
  console.warn(`Tests are skipped: ${PACKAGE} ${VERSION} is not fetched: ${made.stderr}`);
  return null;
}

const contract = await fetched();
const testOn = test.skipIf(contract === null);

function found(): Contract {
  if (contract === null) throw new Error('no contract');
  return contract;
}

/** Returns the names of fields at all depths. */
function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldsOf);
  if (typeof value !== 'object' || value === null || value instanceof Date) return true;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fieldsOf(one)]));
}

testOn('each answer has the fields of the contract, and no other', () => {
  const all = found();
  const schemas: [keyof typeof ANSWERS, Command][] = [
    ['user', all.GetUserByShortUuidCommand],
    ['users', all.GetUsersCommand],
    ['devices', all.GetHwidDevicesCommand],
    ['settings', all.GetSubscriptionSettingsCommand],
    ['squads', all.GetExternalSquadsCommand],
    ['squad', all.GetExternalSquadByUuidCommand],
  ];
  for (const [name, { ResponseSchema }] of schemas) {
    const read = ResponseSchema.parse(ANSWERS[name]);
    expect([name, fieldsOf(read)]).toEqual([name, fieldsOf(ANSWERS[name])]);
  }
  const { code, message, httpCode } = found().ERRORS['GET_USER_BY_UNIQUE_FIELDS_NOT_FOUND'] ?? {};
  expect(ANSWERS['no-user']).toMatchObject({ errorCode: code, message });
  expect(httpCode).toBe(404);
});

testOn('each state of a user is one of the contract', () => {
  const states = ANSWERS.users.response.users.map(({ status }) => status);
  expect(states.toSorted()).toEqual(Object.values(found().USERS_STATUS).toSorted());
});

testOn('each path that is asked is one of the contract', () => {
  const { USERS, HWID, SUBSCRIPTION_SETTINGS, EXTERNAL_SQUADS } = found().REST_API;
  const key = ANSWERS.user.response.shortUuid;
  const byKey = USERS.GET_BY.SHORT_UUID(key);
  expect(PANEL_TRAITS.remnawave.api.userPath(key)).toBe(byKey);
  const paths = [
    ...[byKey, USERS.GET, HWID.GET_ALL_HWID_DEVICES, SUBSCRIPTION_SETTINGS.GET],
    ...[EXTERNAL_SQUADS.GET, EXTERNAL_SQUADS.GET_BY_UUID(ANSWERS.squad.response.uuid)],
  ];
  // Its router takes a path with and without the last slash.
  for (const path of paths) expect([path, answerOf(path.replace(/\/$/, ''))]).not.toContain(null);
  for (const { RequestQuerySchema } of [found().GetUsersCommand, found().GetHwidDevicesCommand]) {
    expect(RequestQuerySchema.parse({ start: '0', size: '500' })).toEqual({ start: 0, size: 500 });
  }
});

testOn('a cut-off asks what the contract has, and keeps the short UUID', async () => {
  const { REST_API, GetUserByIdCommand, RevokeUserSubscriptionCommand } = found();
  const { cutOff } = PANEL_TRAITS.remnawave;
  if ('why' in cutOff) throw new Error(cutOff.why);
  const { id, shortUuid } = ANSWERS.user.response;
  const asked: string[] = [];
  const holder = await cutOff.read(String(id), async (path) => {
    asked.push(path);
    return ANSWERS.user;
  });
  expect(GetUserByIdCommand.ResponseSchema.parse(ANSWERS.user)).toBeDefined();
  expect(asked).toEqual([REST_API.USERS.GET_BY_ID(String(id))]);
  expect(holder?.keys).toEqual([shortUuid]);
  const change = holder?.change();
  expect(change?.path).toBe(REST_API.USERS.ACTIONS.REVOKE_SUBSCRIPTION(String(id)));
  expect(change?.method).toBe('POST');
  const { RequestBodySchema } = RevokeUserSubscriptionCommand;
  expect(RequestBodySchema.parse(change?.body)).toEqual({ revokeOnlyPasswords: true });
});

testOn('what its proxy check asks for is sent', () => {
  const headers = PANEL_TRAITS.remnawave.api.headersOf('token');
  expect(headers).toMatchObject(found().REMNAWAVE_BYPASS_HTTPS_RESTRCTIONS);
});
