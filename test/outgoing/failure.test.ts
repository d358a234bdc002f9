import { expect, test } from 'bun:test';
import {
  ConnectionFault,
  codeOf,
  failureOf,
  isDistrusted,
  isStale,
  isUnreachable,
} from '../../src/outgoing/failure.ts';

test.each([
  ['ECONNREFUSED', 'unreachable', 'cannot connect to HOST: the connection is refused'],
  ['ENETUNREACH', 'unreachable', 'cannot connect to HOST: there is no way to its network'],
  ['EMFILE', 'unreachable', 'cannot connect to HOST: this process has too many files open'],
  ['ENOTFOUND', 'name', 'HOST has no address'],
  ['EAI_AGAIN', 'name', 'HOST has no address'],
  ['ETIMEDOUT', 'timeout', 'HOST does not answer'],
  ['ECONNRESET', 'reset', 'HOST broke the connection off'],
  ['HTTP2GoAway', 'reset', 'HOST broke the connection off'],
  ['HTTP2StreamReset', 'reset', 'HOST broke the connection off'],
  ['HTTP2RefusedStream', 'reset', 'HOST broke the connection off'],
  ['HTTP2Unsupported', 'protocol', 'HOST does not speak HTTP/2'],
  ['HTTP2ProtocolError', 'protocol', 'HOST violates HTTP/2 (HTTP2ProtocolError)'],
  ['HPE_INVALID_CONSTANT', 'protocol', 'HOST does not answer in HTTP'],
  ['HPE_HEADER_OVERFLOW', 'protocol', 'the answer of HOST has too many headers'],
  ['CERT_HAS_EXPIRED', 'tls', 'cannot trust HOST: its certificate has expired'],
  ['ERR_SSL_WRONG', 'tls', 'cannot trust HOST: the TLS handshake failed (ERR_SSL_WRONG)'],
  ['ERR_INVALID_CHAR', 'unsendable', 'the call to HOST has characters that cannot be sent'],
  ['ESOMETHING', 'reset', 'the call to HOST failed (ESOMETHING)'],
] as const)('%s is %s', (code, kind, problem) => {
  expect(failureOf(new ConnectionFault(code), 'HOST')).toMatchObject({ kind, problem });
});

test('of a fault its code alone is taken', () => {
  const SECRET = 'https://example.com/secret';
  for (const fault of [new Error(SECRET), SECRET, null, { code: SECRET }, { code: 7 }]) {
    expect(codeOf(fault)).toBe('UNKNOWN');
  }
  expect(codeOf(Object.assign(new Error(SECRET), { code: 'EPIPE' }))).toBe('EPIPE');
});

test('a call is repeated at once where the connection is to blame', () => {
  expect(isStale(new ConnectionFault('ECONNRESET', true))).toBe(true);
  expect(isStale(new ConnectionFault('ECONNRESET'))).toBe(false);
  expect(isStale(new ConnectionFault('ETIMEDOUT', true))).toBe(false);
  expect(isUnreachable(new ConnectionFault('ECONNREFUSED'))).toBe(true);
  expect(isUnreachable(new ConnectionFault('ECONNRESET'))).toBe(false);
  expect(isDistrusted(new ConnectionFault('UNABLE_TO_VERIFY_LEAF_SIGNATURE'))).toBe(true);
  expect(isDistrusted(new ConnectionFault('ERR_TLS_CERT_ALTNAME_INVALID'))).toBe(false);
});
