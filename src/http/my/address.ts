/** The addresses of the page of users, for apps. */

import type { Core } from '../../core/core.ts';
import { FullLinkRefused } from '../../core/full-link.ts';
import { hasMy, thisReference } from '../../core/my.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Connection } from '../console/site.ts';
import { settle } from '../interpreter.ts';
import { parseQuery, valueIn } from '../request/query.ts';

interface AddressSettings {
  readonly myPath: string;
}

/** Returns the origin of a request, with the scheme that a trusted proxy reports. */
export function originOf(
  { headers }: Request,
  { isTrusted, scheme }: Pick<Connection, 'isTrusted' | 'scheme'>,
): string {
  const isForwarded = isTrusted && headers.get('x-forwarded-proto') === 'https';
  return `${isForwarded ? 'https' : scheme}://${headers.get('host') ?? ''}`;
}

/** Returns the address of the page for the address of a subscription. */
export function addressOfFetch(
  { myPath }: AddressSettings,
  origin: string,
  { host, path, installCode }: { host: string; path: string; installCode: string | null },
): string | null {
  if (myPath === '' || origin === '') return null;
  const name = encodeURIComponent(installCode ?? `${host}${path}`).replaceAll('%2F', '/');
  return `${origin}${myPath}?link=${name}`;
}

/** Returns the address of the page for a request to a panel's host; `target` is path and query. */
export function addressOfRequest(
  settings: AddressSettings,
  origin: string,
  host: string,
  target: string,
): string | null {
  const code = valueIn(parseQuery(target, true), 'installid');
  const installCode = typeof code === 'string' ? code : null;
  return addressOfFetch(settings, origin, {
    host,
    installCode,
    path: target.split('?', 1)[0] ?? '',
  });
}

/**
 * Returns the address of the page for a device that a full link refused; for some minutes it
 * identifies the device. Null: another refusal, or the provider has no page.
 */
export function addressOfRefusal(
  { store }: Pick<Core, 'store'>,
  { myPath }: AddressSettings,
  refused: unknown,
  origin: string,
  nowMs: number,
): Maybe<string | null> {
  if (!(refused instanceof FullLinkRefused) || myPath === '' || origin === '') return null;
  const { hwid, link } = refused;
  // A fault must not hold back the refusal: it goes out without the address.
  return settle(
    () =>
      after(store.findProvider(link.providerCode), (provider) => {
        if (provider === null || !hasMy(provider, nowMs)) return null;
        return after(store.findLinkById(link.installId), (found) => {
          if (found === null) return null;
          const { id: installId, installCode } = found;
          const { keyHash } = provider;
          const signed = hwid && thisReference({ installId, installCode, keyHash }, hwid, nowMs);
          return `${origin}${myPath}?link=${installCode}${signed ? `&this=${signed}` : ''}`;
        });
      }),
    () => null,
    (address) => address,
  );
}
