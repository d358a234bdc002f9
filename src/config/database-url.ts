/** The address of a PostgreSQL server as operators write it, in the form of libpq's URLs. */

export interface DatabaseUrl {
  /** Host name or address; the empty text for a socket. */
  host: string;
  port: number;
  /** Directory with the socket of a server on this machine; null: `host` is called. */
  socket: string | null;
  user: string;
  /** The empty text: it has none. */
  password: string;
  database: string;
  /** What its `sslmode` asks for; null: nothing. */
  wantsTls: boolean | null;
  /** Whether a server must prove its name too, as opposed to its authority alone. */
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

/** Reads the URL; null for none. Throws RangeError, which repeats nothing of what may be secret. */
export function databaseUrl(given: string): DatabaseUrl | null {
  if (given === '') return null;
  const [, , user, password = '', place = '', database = '', query = ''] =
    FORM.exec(given) ??
    misfit('it is not a URL such as postgres://gatepost@db.example.com/gatepost');
  if (user === undefined) misfit('it names no user: postgres://USER@HOST/DATABASE');
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

/** The URL with its password masked. */
export function maskedDatabaseUrl(given: string): string {
  const [, scheme = '', user = '', password = ''] = FORM.exec(given) ?? [];
  if (password === '') return given;
  const head = `${scheme}${user}:`;
  return `${head}********${given.slice(head.length + password.length)}`;
}

/** Tells whether the server is on this machine: nobody can listen in between. */
export function isOnThisMachine({ host, socket }: DatabaseUrl): boolean {
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
  return misfit('a % in it begins no character: one that is meant as such is written %25');
}

function hostOf(place: string) {
  if (place.includes(',')) {
    misfit('it names several hosts: name one, behind which the present leader answers');
  }
  const [, name = '', digits] = HOST_AND_PORT.exec(place) ?? misfit('it has no host and port');
  const host = name.replace(/^\[|\]$/g, '').toLowerCase();
  const port = digits === undefined ? STANDARD_PORT : Number(digits);
  if (host === '') misfit('it names no host');
  if (port < 1 || port > 65_535) misfit('its port is not one from 1 to 65535');
  return { host, port };
}

/** A socket, of which the port is a part of the name. */
function socketOf(directory: string, place: string) {
  const [, host = '', digits] = HOST_AND_PORT.exec(place) ?? misfit('it has no host and port');
  if (host !== '') misfit('it names a host and the directory of a socket: one of them is too much');
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
    else misfit('behind the ? it may have host=/DIRECTORY and sslmode alone');
  }
  return { socket, wantsTls, isNameChecked };
}
