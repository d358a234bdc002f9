/** The addresses of the page of users, for apps. */

import { myUrlOfFetch } from '../../core/my.ts';
import type { MySites } from '../../core/port/my.ts';
import type { Connection } from '../console/site.ts';
import { parseQuery, pathOf, valueIn } from '../request/query.ts';

/** Returns the origin of a request, with the scheme that a trusted proxy reports. */
export function originOf(
  { headers }: Request,
  { isTrusted, scheme }: Pick<Connection, 'isTrusted' | 'scheme'>,
): string {
  const isForwarded = isTrusted && headers.get('x-forwarded-proto') === 'https';
  return `${isForwarded ? 'https' : scheme}://${headers.get('host') ?? ''}`;
}

/** Returns the code that a request to a panel's host has; `target` is path and query. */
export function codeIn(target: string): string | null {
  const code = valueIn(parseQuery(target, true), 'installid');
  return typeof code === 'string' ? code : null;
}

/** Returns the address of the page for a request to a panel's host; `target` is path and query. */
export function myUrlOfRequest(
  settings: Pick<MySites, 'myPath'>,
  origin: string,
  host: string,
  target: string,
): string | null {
  return myUrlOfFetch(settings, origin, {
    host,
    installCode: codeIn(target),
    path: pathOf(target),
  });
}
