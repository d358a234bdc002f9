/** The addresses by which apps lead to the page of users. */

import type { Core } from '../../core/core.ts';
import { FullLinkRefused } from '../../core/full-link.ts';
import { hasPages, thisReference } from '../../core/my.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Connection } from '../console/site.ts';
import { settle } from '../interpreter.ts';
import { parseQuery, valueIn } from '../request/query.ts';

interface AddressSettings {
  readonly myPath: string;
}

/** Returns the origin under which a client asked, with the scheme as a trusted proxy has it. */
export function originOf(
  { headers }: Request,
  { isTrusted, scheme }: Pick<Connection, 'isTrusted' | 'scheme'>,
): string {
  const isForwarded = isTrusted && headers.get('x-forwarded-proto') === 'https';
  return `${isForwarded ? 'https' : scheme}://${headers.get('host') ?? ''}`;
}

/** Returns the address of the page for a subscription, which its own address names. */
export function addressOfFetch(
  { myPath }: AddressSettings,
  origin: string,
  { host, path, installCode }: { host: string; path: string; installCode: string | null },
): string | null {
  if (myPath === '' || origin === '') return null;
  const name = encodeURIComponent(installCode ?? `${host}${path}`).replaceAll('%2F', '/');
  return `${origin}${myPath}?link=${name}`;
}

/** Returns that address for a request to a panel's host; `target`: its path and query. */
export function addressOfRequest(
  settings: AddressSettings,
  origin: string,
  host: string,
  target: string,
): string | null {
  const code = valueIn(parseQuery(target, true), 'installid');
  const installCode = typeof code === 'string' ? code : null;
  return addressOfFetch(settings, origin, {
    ...{ host, installCode },
    path: target.split('?', 1)[0] ?? '',
  });
}

/**
 * Returns the address of the page for a device that a full link refused, which knows the device
 * again for minutes; null: the refusal is another one, or the provider has no page.
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
  // A refusal goes out without the address rather than not at all.
  return settle(
    () =>
      after(store.findProvider(link.providerCode), (provider) => {
        if (provider === null || !hasPages(provider, nowMs)) return null;
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
