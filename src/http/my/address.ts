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

/** Returns the address of the page for a request to a panel's host; `target` is path and query. */
export function myUrlOfRequest(
  settings: Pick<MySites, 'myPath'>,
  origin: string,
  host: string,
  target: string,
): string | null {
  const code = valueIn(parseQuery(target, true), 'installid');
  const installCode = typeof code === 'string' ? code : null;
  return myUrlOfFetch(settings, origin, {
    host,
    installCode,
    path: pathOf(target),
  });
}
