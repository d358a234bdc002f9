/** Devices that register for messages, and what is sent to them: words of the messaging tests. */

import { expect } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { call, type Reply, read, type TestApp } from './app.ts';
import { expectOk, HASH } from './shop.ts';

export function post(
  app: { url: string },
  path: string,
  body: unknown,
  token: string | null = null,
): Promise<Reply> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  return fetch(`${app.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers }).then(
    read,
  );
}

/** Registers and returns the token; throws when that is refused. */
export async function register(
  app: { url: string },
  body: Record<string, unknown>,
  token: string | null = null,
): Promise<string> {
  const reply = await tryRegister(app, body, token);
  if (reply.json.rc !== 1) throw new Error(`refused: ${reply.text}`);
  return reply.json.device_token;
}

export function tryRegister(
  app: { url: string },
  body: Record<string, unknown>,
  token: string | null = null,
): Promise<Reply> {
  return post(app, '/device/register', { os: 'android', ...body }, token);
}

/** The answer to whoever shows nothing that speaks for a HWID. */
export const REFUSED = { rc: 0, msg: 'Device is registered' };

export async function expectRefused(
  app: { url: string },
  body: Record<string, unknown>,
  token: string | null = null,
): Promise<void> {
  expect((await tryRegister(app, body, token)).json).toEqual(REFUSED);
}

export const byBinding = (hwid: string, by: Credentials, hash = HASH) => ({
  hwid,
  provider_code: by.code,
  domain_hash: hash,
});
export const byLink = (hwid: string, code: string, hash = HASH) => ({
  hwid,
  install_code: code,
  domain_hash: hash,
});

export function inbox(
  app: { url: string },
  token: string,
  wait = 0,
  signal: AbortSignal | null = null,
): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}` };
  return call(app, '/device/inbox', null, { wait }, { headers, signal });
}

/** The bodies or actions of what waits, oldest first; or the refusal. */
export async function readable(app: { url: string }, token: string): Promise<string[] | string> {
  const { json } = await inbox(app, token);
  if (json.rc !== 1) return json.msg;
  return json.data.map(({ payload }: { payload: { body?: string; action_type?: string } }) =>
    String(payload.body ?? payload.action_type),
  );
}

export function ack(app: { url: string }, token: string, items: readonly unknown[]) {
  return post(app, '/device/ack', { items }, token);
}

/** Sends a notification; `to` is `{ os }` or `{ hwid }`. Returns its id. */
export async function notify(
  app: { url: string },
  by: Credentials,
  body: string,
  to: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<number> {
  const form = { body, type_push: 'optional', expire_days: 1, ...more };
  return sent(app, '/remote/notification', by, { PushNotificationForm: form, ...to });
}

/** A message to a device that has not been fetched. */
export async function sendSecret(
  app: TestApp,
  by: Credentials,
  body = 'secret',
  hwid = 'victim',
): Promise<void> {
  await notify(app, by, body, { hwid });
  await app.deliver();
}

/** Sends a command; `fields` says which and to whom. Returns its id. */
export function order(app: { url: string }, by: Credentials, fields: Record<string, unknown>) {
  return sent(app, '/remote/command', by, fields);
}

async function sent(
  app: { url: string },
  path: string,
  by: Credentials,
  body: unknown,
): Promise<number> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  return (await expectOk(call(app, path, by, {}, init))).json.id;
}
