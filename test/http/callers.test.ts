/** The trust in a caller, by how its address is known. */

import { expect, test } from 'bun:test';
import { makeCallers } from '../../src/http/callers.ts';
import type { CallerKind, Listener } from '../../src/http/listener.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';

/** Makes a request of a caller with this address, with another one in `X-Forwarded-For`. */
function callBy(kind: CallerKind, address: string, trusted: string[], gate: string[] | null) {
  const listener = { peerOf: () => address, kindOf: () => kind } as unknown as Listener;
  const settings = {
    trustedProxies: parseTrustedProxies(trusted),
    gateProxies: gate && parseTrustedProxies(gate),
  };
  const callers = makeCallers({ listener: () => listener, settings, scheme: 'http' });
  const request = new Request('http://localhost/', { headers: { 'x-forwarded-for': '9.9.9.9' } });
  return {
    address: callers.addressOf(request),
    isOfGate: callers.isOfGate(request),
    isTrusted: callers.isTrusted(request),
    peer: callers.connectionOf(request).peer,
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
