/**
 * The slice of the interface that every peer implements, apart from its framework and its database:
 * how credentials are compared, what is valid, and how answers look.
 */

import { hash, timingSafeEqual } from 'node:crypto';

export const OK = { rc: 1, msg: 'Ok' };
export const AUTH_ERROR = { rc: 0, msg: 'Auth error' };
export const UNKNOWN_ERROR = { rc: 0, msg: 'Unknown error' };
export const CODE_EXISTS = { rc: 2, msg: 'Install code exists' };
export const NOT_FOUND = { rc: 0, msg: 'Install not found' };

/** Answers of an API are not cached. */
export const NO_STORE = { 'cache-control': 'no-store' };

const DIGITS = /^[0-9]{1,15}$/;
const CODE = /^[A-Za-z0-9]{12}$/;
const NOTE_LENGTH_MAX = 255;
/** Compared with where there is no such provider, so that it takes as long. */
const NO_HASH = new Uint8Array(32);

export const hashKey = (key) => hash('sha256', key, 'buffer');

/** True if `key` is the one of which `stored` is the SHA-256. */
export function isKey(key, stored) {
  return timingSafeEqual(hashKey(String(key)), stored ?? NO_HASH) && stored !== undefined;
}

export const isId = (id) => id !== undefined && DIGITS.test(id);

/** The link that a query asks for; null if it is not valid. */
export function readLink({ install_code: code, install_limit: limit, note }) {
  if (code === undefined || !CODE.test(code)) return null;
  if (limit === undefined || !DIGITS.test(limit)) return null;
  if (Number(limit) < 1 || Number(limit) > 100) return null;
  if (note !== undefined && note.length > NOTE_LENGTH_MAX) return null;
  return { code, limit: Number(limit), note: note ?? null };
}

/** A row of `install` as the interface lists it; times are in UTC+3. */
export function listed(row) {
  return {
    id: Number(row.id),
    install_code: row.install_code,
    install_limit: row.install_limit,
    install_count: row.device_count,
    status: row.status,
    note: row.note,
    created_at: new Date(Number(row.created_at_ms) + 10_800_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' '),
  };
}

/** The answer to a device that is on the link. */
export function admitted(row) {
  return {
    rc: 1,
    msg: 'Ok',
    provider_id: row.code,
    status: row.status,
    install_limit: row.install_limit,
    install_count: row.device_count,
  };
}
