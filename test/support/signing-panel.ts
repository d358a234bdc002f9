/**
 * Panels that sign the user into each token, written from their sources (`app/utils/jwt.py` and
 * `get_validated_sub` of Marzban and PasarGuard) and not from those of Gatepost.
 */

import { createHash, createHmac } from 'node:crypto';
import { answer, behaveWell, type PanelCall } from './panel.ts';

export const SECRET = '5f'.repeat(32);
export const OTHER_SECRET = 'a0'.repeat(32);

const coded = (text: string) => Buffer.from(text).toString('base64url');
const digest = (data: string, secret: string, encoding: 'base64url' | 'hex' = 'base64url') =>
  createHash('sha256')
    .update(data + secret)
    .digest(encoding)
    .slice(0, 10);
const mac = (data: string, secret: string) =>
  createHmac('sha256', secret).update(data).digest('base64url');

export function digestToken(text: string, secret = SECRET, encoding?: 'hex'): string {
  return coded(text) + digest(coded(text), secret, encoding);
}

export function macToken(text: string, secret = SECRET): string {
  return `${coded(text)}.${mac(coded(text), secret)}`;
}

export function jwtToken(claims: object, secret = SECRET): string {
  const signed = `${coded('{"alg":"HS256","typ":"JWT"}')}.${coded(JSON.stringify(claims))}`;
  return `${signed}.${mac(signed, secret)}`;
}

/** A token of each form in which Marzban wrote the name of a user. */
export const MARZBAN_FORMS = [
  (name: string, seconds: number, secret?: string) => digestToken(`${name},${seconds}`, secret),
  (sub: string, iat: number, secret?: string) =>
    jwtToken({ sub, access: 'subscription', iat }, secret),
];

/** Marzban's are those of PasarGuard before its version 3.1. */
export const OLD_PASARGUARD_FORMS = MARZBAN_FORMS;

/** A token of each form in which PasarGuard wrote the number of a user. */
export const PASARGUARD_FORMS = [
  (id: string, seconds: number, secret?: string) => macToken(`v3,${id},${seconds}`, secret),
  (id: string, seconds: number, secret?: string) => digestToken(`v2,${id},${seconds}`, secret),
  (id: string, seconds: number, secret?: string) =>
    digestToken(`v2,${id},${seconds}`, secret, 'hex'),
];

/** Returns the user whom a panel would read from a token; null: it answers 404. */
function userIn(token: string): string | null {
  if (token.length < 15) return null;
  const dot = token.lastIndexOf('.');
  if (token.startsWith(coded('{"alg":"HS256","typ":"JWT"}'))) {
    if (mac(token.slice(0, dot), SECRET) !== token.slice(dot + 1)) return null;
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;
  }
  const data = dot < 0 ? token.slice(0, -10) : token.slice(0, dot);
  const right = dot < 0 ? [digest(data, SECRET), digest(data, SECRET, 'hex')] : [mac(data, SECRET)];
  if (!right.includes(dot < 0 ? token.slice(-10) : token.slice(dot + 1))) return null;
  const parts = Buffer.from(data, 'base64url').toString().split(',');
  return parts.at(-2) ?? null;
}

/** Answers as PasarGuard with users by their numbers; `info` replaces what it tells of one. */
export function pasarguardOf(
  names: Readonly<Record<string, string>>,
  info: (user: { id: number; username: string }) => string | Uint8Array = JSON.stringify,
) {
  return async (call: PanelCall): Promise<void> => {
    const [, , token = '', part = ''] = call.target.split(/[/?]/);
    const user = userIn(token);
    const known = Object.entries(names).find((one) => user !== null && one.includes(user));
    if (known === undefined) return void (await call.send(answer(404, '{"detail":"Not Found"}')));
    if (part !== 'info') return behaveWell(call);
    await call.send(answer(200, info({ id: Number(known[0]), username: known[1] })));
  };
}

/** Answers as a panel with these users. */
export function panelOf(isUser: (user: string) => boolean) {
  return async (call: PanelCall): Promise<void> => {
    const user = userIn(call.target.split(/[/?]/)[2] ?? '');
    if (user !== null && isUser(user)) return behaveWell(call);
    await call.send(answer(404, '{"detail":"Not Found"}'));
  };
}
