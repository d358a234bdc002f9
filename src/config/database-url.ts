/** The URL of a PostgreSQL database, in the form of libpq. */

import { bareHost } from '../core/outbox/address.ts';

export interface DatabaseUrl {
  /** Host name or address; empty for a socket. */
  host: string;
  port: number;
  /** Directory of the socket of a server on this machine; null: `host` is used. */
  socket: string | null;
  user: string;
  /** The password; empty: none. */
  password: string;
  database: string;
  /** From `sslmode`; null: it has none. */
  wantsTls: boolean | null;
  /** Whether the certificate must be for the name of the server, not only from the authority. */
  isNameChecked: boolean;
}

/** Scheme; user and password; host and port; database; query. */
const FORM = new RegExp(
  String.raw`^(postgres(?:ql)?://)(?:([^:@/?#\s]+)(?::([^:@/?#\s]*))?@)?` +
    String.raw`([^@/?#\s]*)/([^/?#\s]+)(?:\?([^?#\s]*))?$`,
);
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d{1,5}))?$/i;
const STANDARD_PORT = 5432;
const TLS_OF_MODE: Readonly<Record<string, boolean>> = {
  disable: false,
  require: true,
  'verify-ca': true,
  'verify-full': true,
};

/** Reads the URL; null: none. Throws RangeError; its message repeats no secret. */
export function databaseUrl(given: string): DatabaseUrl | null {
  if (given === '') return null;
  const [, , user, password = '', place = '', database = '', query = ''] =
    FORM.exec(given) ??
    misfit('it is not a URL such as postgres://gatepost@db.example.com/gatepost');
  if (user === undefined) misfit('it has no user: postgres://USER@HOST/DATABASE');
  const { socket, ...tls } = readQuery(query);
  const placed = decoded(place);
  return {
    ...(socket === null && !placed.startsWith('/')
      ? { ...hostOf(placed), socket: null }
      : socketOf(socket ?? placed, socket === null ? '' : placed)),
    user: decoded(user),
    password: decoded(password),
    database: decoded(database),
    ...tls,
  };
}

/**
 * Returns the URL with its password masked.
 *
 * @example maskedDatabaseUrl('postgres://me:secret@host/db') // 'postgres://me:********@host/db'
 */
export function maskedDatabaseUrl(given: string): string {
  const [, scheme = '', user = '', password = ''] = FORM.exec(given) ?? [];
  if (password === '') return given;
  const head = `${scheme}${user}:`;
  return `${head}********${given.slice(head.length + password.length)}`;
}

/** Returns whether the server is on this machine, so that no network is in between. */
export function isOnThisMachine({ host, socket }: Pick<DatabaseUrl, 'host' | 'socket'>): boolean {
  return socket !== null || host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function misfit(reason: string): never {
  throw new RangeError(reason);
}

function decoded(text: string): string {
  try {
    const plain = decodeURIComponent(text);
    if (!plain.includes('\0')) return plain;
  } catch {
    // As below.
  }
  return misfit('a % in it is no valid escape: write a literal one as %25');
}

function hostOf(place: string) {
  if (place.includes(',')) {
    misfit('it has several hosts: give one that always leads to the primary');
  }
  const [, name = '', digits] = HOST_AND_PORT.exec(place) ?? misfit('it has no host and port');
  const host = bareHost(name).toLowerCase();
  const port = digits === undefined ? STANDARD_PORT : Number(digits);
  if (host === '') misfit('it has no host');
  if (port < 1 || port > 65_535) misfit('its port is not from 1 to 65535');
  return { host, port };
}

/** Reads a socket; the port is a part of its file name. */
function socketOf(directory: string, place: string) {
  const [, host = '', digits] = HOST_AND_PORT.exec(place) ?? misfit('it has no host and port');
  if (host !== '') misfit('it has both a host and the directory of a socket');
  return {
    host: '',
    port: digits === undefined ? STANDARD_PORT : Number(digits),
    socket: directory,
  };
}

function readQuery(query: string) {
  let socket: string | null = null;
  let wantsTls: boolean | null = null;
  let isNameChecked = true;
  for (const part of query.split('&').filter((text) => text !== '')) {
    const [name = '', text = ''] = part.split('=', 2);
    const value = decoded(text);
    if (name === 'host' && value.startsWith('/')) socket = value;
    else if (name === 'sslmode' && TLS_OF_MODE[value] !== undefined) {
      wantsTls = TLS_OF_MODE[value];
      isNameChecked = value !== 'verify-ca';
    } else if (name === 'sslmode') misfit('its sslmode is not verify-full, verify-ca or disable');
    else misfit('its query may have host=/DIRECTORY and sslmode only');
  }
  return { socket, wantsTls, isNameChecked };
}
