/**
 * Headers by which an answer sends an app to another address of its subscription, now or when the
 * present one fails: those of the table of apps. INCY has none: its other hosts are in an encrypted
 * document.
 */

import { APPS } from './app/table.ts';
import { hostName } from './host-name.ts';

/** The headers, each once. */
export const APP_MOVES: readonly string[] = [
  ...new Set(
    APPS.flatMap(({ panelMoves, reads }) => [
      ...reads.filter(({ part }) => part !== 'message').map(({ header }) => header),
      ...panelMoves.map(({ header }) => header),
    ]),
  ),
];

/**
 * Returns the header of {@link APP_MOVES} as which apps read a name; null: it is none. Clod Clash
 * reads names with any prefix: `a-new-url`.
 */
export const moveNamed = (name: string): string | null => MOVE.exec(name)?.[1] ?? null;

const MOVE = new RegExp(`(?:^|-)(${APP_MOVES.join('|')})$`);

/** A header that changes the HWIDs of all apps that read it: Happ. */
export const ALTERNATIVE_HWID = 'subscription-alternative-hwid-enabled';

const BASE64 = /^base64:/i;
const VALUE_LENGTH_MAX = 8_192;
/** Hosts of one value that are read. */
const HOSTS_MAX = 8;
/** A host that cannot be read: it is no host of the provider. */
export const UNREADABLE = '?';

/**
 * Returns the hosts to which a value sends an app: of a URL or a host name, or of several; plain or
 * after `base64:`. Empty: to none. What cannot be read is {@link UNREADABLE}.
 *
 * @example hostsOfMove('https://Sub.example.org:8443/KEY') // ['sub.example.org']
 */
export function hostsOfMove(value: string): string[] {
  const text = BASE64.test(value)
    ? Buffer.from(value.replace(BASE64, ''), 'base64').toString()
    : value;
  if (text.length > VALUE_LENGTH_MAX) return [UNREADABLE];
  const parts = text.split(/[\s,;|]+/).filter((part) => part !== '');
  if (parts.length > HOSTS_MAX) return [UNREADABLE];
  return [...new Set(parts.map(hostIn))];
}

function hostIn(part: string): string {
  const written = part.replace(/^[a-z][a-z0-9+.-]*:(?=[\\/]{2})/i, '').replace(/^[\\/]+/, '');
  // Some apps find another host behind `@` or `\` than a URL parser.
  const [authority = ''] = written.split(/[/?#]/, 1);
  return hostName(authority) ?? UNREADABLE;
}

/** The bytes at the head of a body where apps read lines such as `#new-url: …`. */
export const HEAD_BYTES = 4_096;
const LINE = /^[ \t]*(?:#+|\/\/|;)[ \t]*([A-Za-z-]{1,64})(?:[ \t]*:|[ \t])[ \t]*(.*)$/gm;

/** A line of a body that sends apps elsewhere. */
interface MovingLine {
  name: string;
  value: string;
}

/**
 * Returns the lines at the head of a body that send apps elsewhere; the body is plain or base64.
 */
export function movingLines(head: string): MovingLine[] {
  const isEncoded = /^[A-Za-z0-9+/=_\s-]+$/.test(head);
  const text = isEncoded ? Buffer.from(head, 'base64').toString() : head;
  return [...text.matchAll(LINE)]
    .map(([, name = '', value = '']) => ({ name: name.toLowerCase(), value }))
    .filter(({ name }) => moveNamed(name) !== null);
}
