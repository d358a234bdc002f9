/**
 * The caller of a request: the address of the connection, that of the client behind a trusted
 * proxy, and the trust in it.
 *
 * | Connection | Trusted proxy | May ask `/gate` | Of this machine |
 * |---|---|---|---|
 * | of its own | in `server.trusted_proxies` | in `gate.proxies` | by its address |
 * | with a PROXY header, never of this machine | there | never | never |
 * | by the Unix socket | always | always | never |
 */

import { networkInterfaces } from 'node:os';
import type { Connection } from './console/site.ts';
import type { Listener } from './listener.ts';
import {
  clientAddress,
  countedAs,
  type SharedAddresses,
  sharedAddress,
  type TrustedProxies,
} from './request/address.ts';

/** The address of a caller by the Unix socket that names no client. */
const BY_SOCKET = '127.0.0.1';
/** It in the search for a client: no address, so that no client can have it. */
const SOCKET = 'socket';

interface CallersDeps {
  listener(): Listener;
  settings: {
    readonly trustedProxies: TrustedProxies;
    readonly gateProxies: TrustedProxies | null;
    readonly sharedAddresses: SharedAddresses;
  };
  /** The scheme of the listener on an address. */
  scheme: Connection['scheme'];
}

/** Returns the addresses of this machine. */
export const ownAddresses = () =>
  Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map(({ address }) => address));

export type Callers = ReturnType<typeof makeCallers>;

export function makeCallers({ listener, settings, scheme }: CallersDeps) {
  const peerOf = (request: Request) => listener().peerOf(request);
  const kindOf = (request: Request) => listener().kindOf(request);

  const isTrusted = (
    request: Request,
    peer = peerOf(request),
    trusted = settings.trustedProxies,
  ) => {
    return kindOf(request) === 'proxy' || trusted.includes(peer);
  };

  function addressOf(request: Request): string {
    const peer = peerOf(request);
    if (!isTrusted(request, peer)) return peer;
    const { trustedProxies } = settings;
    if (kindOf(request) !== 'proxy') return clientAddress(peer, request, trustedProxies);
    const address = clientAddress(SOCKET, request, withSocket(trustedProxies));
    return address === SOCKET ? BY_SOCKET : address;
  }

  /**
   * Returns the name under which refused phones share an address, as `sharedAddress`; null also for
   * the address of an exit, which phones share that have nothing in common.
   */
  function sharedAddressOf(request: Request, trusted = settings.trustedProxies): string | null {
    const address = addressShared(request, trusted);
    return address === null || settings.sharedAddresses.includes(address) ? null : address;
  }

  function addressShared(request: Request, trusted: TrustedProxies): string | null {
    const peer = peerOf(request);
    if (!isTrusted(request, peer, trusted)) return peer === '' ? null : countedAs(peer);
    return kindOf(request) === 'proxy'
      ? sharedAddress(SOCKET, request, withSocket(trusted))
      : sharedAddress(peer, request, trusted);
  }

  return {
    peerOf,
    isTrusted: (request: Request) => isTrusted(request),
    addressOf,
    sharedAddressOf,
    connectionOf: (request: Request): Connection => {
      const isOfSocket = kindOf(request) === 'proxy';
      const peer = peerOf(request);
      return {
        peer: isOfSocket ? SOCKET : peer,
        isTrusted: isTrusted(request, peer),
        scheme: isOfSocket ? 'http' : scheme,
      };
    },
    /** Returns whether the caller may ask `/gate`. */
    isOfGate: (request: Request) => {
      const kind = kindOf(request);
      if (kind !== 'peer') return kind === 'proxy';
      return (settings.gateProxies ?? settings.trustedProxies).includes(peerOf(request));
    },
  };
}

const withSocket = (trusted: TrustedProxies): TrustedProxies => ({
  includes: (address) => address === SOCKET || trusted.includes(address),
});
