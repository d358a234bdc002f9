/** The trust in a caller, by how its address is known. */

import { expect, test } from 'bun:test';
import { makeCallers } from '../../src/http/callers.ts';
import type { CallerKind, Listener } from '../../src/http/listener.ts';
import { parseSharedAddresses, parseTrustedProxies } from '../../src/http/request/address.ts';

/** Makes a request of a caller with this address, with another one in `X-Forwarded-For`. */
function callBy(
  kind: CallerKind,
  address: string,
  trusted: string[],
  gate: string[] | null,
  shared: string[] = [],
) {
  const listener = { peerOf: () => address, kindOf: () => kind } as unknown as Listener;
  const settings = {
    trustedProxies: parseTrustedProxies(trusted),
    gateProxies: gate && parseTrustedProxies(gate),
    sharedAddresses: parseSharedAddresses(shared),
  };
  const callers = makeCallers({ listener: () => listener, settings, scheme: 'http' });
  const request = new Request('http://localhost/', { headers: { 'x-forwarded-for': '9.9.9.9' } });
  return {
    address: callers.addressOf(request),
    isOfGate: callers.isOfGate(request),
    isTrusted: callers.isTrusted(request),
    peer: callers.connectionOf(request).peer,
    ofRefused: callers.sharedAddressOf(request),
  };
}

const OWN = '127.0.0.1';
const OTHER = '8.8.4.4';

test.each<[kind: CallerKind, of: string, trusted: string[], gate: string[] | null, means: object]>([
  ['peer', OWN, [], null, { address: OWN, isOfGate: false, isTrusted: false }],
  ['peer', OWN, [OWN], null, { address: '9.9.9.9', isOfGate: true, isTrusted: true }],
  ['peer', OWN, [OWN], [], { address: '9.9.9.9', isOfGate: false, isTrusted: true }],
  ['client', OTHER, [], null, { address: OTHER, isOfGate: false, isTrusted: false }],
  ['client', OTHER, [OTHER], [OTHER], { address: '9.9.9.9', isOfGate: false, isTrusted: true }],
  ['proxy', OWN, [], [], { address: '9.9.9.9', isOfGate: true, isTrusted: true, peer: 'socket' }],
])('%s %s, trusted %p, at the gate %p', (kind, of, trusted, gate, means) => {
  expect(callBy(kind, of, trusted, gate)).toMatchObject(means);
});

test.each<[kind: CallerKind, of: string, trusted: string[], shared: string[], is: string | null]>([
  ['peer', OTHER, [], [OWN], OTHER],
  ['peer', OTHER, [], [OTHER], null],
  ['client', OTHER, [], [OTHER], null],
  ['peer', OWN, [OWN], ['9.9.9.9'], null],
  ['proxy', OWN, [], ['9.9.9.0/24'], null],
  ['proxy', OWN, [], [OWN], '9.9.9.9'],
])('phones refused at %s %s, trusted %p, shared %p', (kind, of, trusted, shared, is) => {
  expect(callBy(kind, of, trusted, null, shared).ofRefused).toBe(is);
});
