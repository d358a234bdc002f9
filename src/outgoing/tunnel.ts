/**
 * A connection through a proxy: HTTP CONNECT (RFC 9110, 9.3.6) or SOCKS5 (RFC 1928, RFC 1929). The
 * `fetch` of Bun has no SOCKS and no HTTP/2 through a proxy.
 */

import net from 'node:net';
import tls from 'node:tls';
import { addressBytes } from '../core/outbox/address.ts';
import { ConnectionFault, codeOf } from './failure.ts';
import { type ProxyAddress, type ProxyLogin, placeOf } from './proxy.ts';

/** The time in which a tunnel and TLS in it must stand, ms. */
const OPEN_MAX_MS = 10_000;
/** The largest answer of a proxy to CONNECT, bytes. */
const ANSWER_BYTES_MAX = 8 * 1024;

interface Target {
  /** A name, which the proxy looks up, or an IP address. */
  host: string;
  port: number;
}

/** Returns the server name for TLS; empty for an IP address, which the certificate must name. */
export const serverNameOf = ({ hostname }: URL) =>
  /^\[|^[\d.]+$/.test(hostname) ? '' : hostname.replace(/\.$/, '');

/** The way to a target: its proxy, and the login at the time of the connection. */
export interface Way {
  proxy: ProxyAddress;
  login: () => ProxyLogin | null;
}

/** Reads what a proxy answers, piece by piece. */
class Answers {
  #bytes = Buffer.alloc(0);
  #wake: (() => void) | null = null;
  #fault: string | null = null;

  constructor(private readonly socket: net.Socket) {
    socket.on('data', this.#add);
    socket.on('error', (fault) => this.#fail(codeOf(fault)));
    socket.on('close', () => this.#fail('PROXY_CLOSED'));
  }

  #add = (bytes: Buffer) => {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (this.#bytes.length > ANSWER_BYTES_MAX) this.#fail('PROXY_MALFORMED');
    this.#wake?.();
  };

  #fail(code: string) {
    this.#fault ??= code;
    this.#wake?.();
  }

  /** Returns the next bytes once `lengthOf` says how many they are; null: more must arrive. */
  async take(lengthOf: (bytes: Buffer) => number | null): Promise<Buffer> {
    for (;;) {
      const length = lengthOf(this.#bytes);
      if (length !== null && length <= this.#bytes.length) {
        const taken = this.#bytes.subarray(0, length);
        this.#bytes = this.#bytes.subarray(length);
        return taken;
      }
      if (this.#fault !== null) throw new ConnectionFault(this.#fault);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  /** Ends the reading. A server behind a proxy says nothing before it is asked. */
  end() {
    if (this.#bytes.length > 0) throw new ConnectionFault('PROXY_MALFORMED');
    if (this.#fault !== null) throw new ConnectionFault(this.#fault);
    this.socket.off('data', this.#add);
  }
}

const exactly = (length: number) => () => length;

/**
 * Opens a connection to a target through a proxy, with TLS in it if `secure` is given. Rejects with
 * a {@link ConnectionFault} if it does not stand within 10 s; nothing was sent to the target then.
 */
export async function openTunnel(
  { proxy, login }: Way,
  target: Target,
  secure: Pick<tls.ConnectionOptions, 'servername' | 'ca' | 'ALPNProtocols'> | null,
  signal?: AbortSignal,
): Promise<net.Socket> {
  const socket = net.connect({ host: proxy.host, port: proxy.port });
  const leave = () => socket.destroy(new Error('stopped'));
  signal?.addEventListener('abort', leave);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    socket.destroy(new Error('late'));
  }, OPEN_MAX_MS);
  try {
    await opened(socket);
    const answers = new Answers(socket);
    const greet = proxy.kind === 'http' ? connectHttp : connectSocks;
    await greet(socket, answers, target, login());
    answers.end();
    if (secure === null) return socket;
    const inside = tls.connect({ ...secure, host: target.host, socket });
    await opened(inside, 'secureConnect');
    return inside;
  } catch (fault) {
    socket.destroy();
    if (isLate) throw new ConnectionFault('PROXY_LATE');
    throw fault instanceof ConnectionFault ? fault : new ConnectionFault(codeOf(fault));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

/** Opens a connection to a proxy and closes it. Returns the problem; null: none. */
export async function reachProxy({ host, port }: ProxyAddress): Promise<string | null> {
  const socket = net.connect({ host, port });
  const timer = setTimeout(() => socket.destroy(new Error('late')), OPEN_MAX_MS);
  try {
    await opened(socket);
    return null;
  } catch {
    return 'no connection to the proxy can be opened';
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** Waits until a socket is open. A fault of the proxy's own address names the proxy. */
function opened(socket: net.Socket, event: 'connect' | 'secureConnect' = 'connect') {
  return new Promise<void>((resolve, reject) => {
    const isProxy = event === 'connect';
    const fail = (fault: unknown) => reject(isProxy ? new ConnectionFault('PROXY_AWAY') : fault);
    const close = () => reject(new ConnectionFault(isProxy ? 'PROXY_AWAY' : 'CLOSED'));
    socket.once('error', fail);
    socket.once('close', close);
    socket.once(event, () => {
      socket.off('error', fail);
      socket.off('close', close);
      resolve();
    });
  });
}

const HEAD_END = '\r\n\r\n';

async function connectHttp(
  socket: net.Socket,
  answers: Answers,
  target: Target,
  login: ProxyLogin | null,
): Promise<void> {
  const authority = placeOf(target);
  const basic = login && Buffer.from(`${login.name}:${login.password}`, 'utf8').toString('base64');
  const head = [
    `CONNECT ${authority} HTTP/1.1`,
    `host: ${authority}`,
    ...(basic === null ? [] : [`proxy-authorization: Basic ${basic}`]),
  ];
  socket.write(head.join('\r\n') + HEAD_END);
  const answer = await answers.take((bytes) => {
    const at = bytes.indexOf(HEAD_END);
    return at < 0 ? null : at + HEAD_END.length;
  });
  const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(answer.toString('latin1')) ?? [];
  if (status === undefined) throw new ConnectionFault('PROXY_MALFORMED');
  // tinyproxy answers 401 to a wrong login.
  if (status === '407' || status === '401') throw new ConnectionFault('PROXY_LOGIN');
  if (!status.startsWith('2')) throw new ConnectionFault('PROXY_REFUSED');
}

const SOCKS = 5;
const NO_LOGIN = 0;
const BY_PASSWORD = 2;
const [IPV4, NAME, IPV6] = [1, 3, 4] as const;

async function connectSocks(
  socket: net.Socket,
  answers: Answers,
  { host, port }: Target,
  login: ProxyLogin | null,
): Promise<void> {
  const methods = login === null ? [NO_LOGIN] : [NO_LOGIN, BY_PASSWORD];
  socket.write(Buffer.from([SOCKS, methods.length, ...methods]));
  const [version, method = 0xff] = await answers.take(exactly(2));
  if (version !== SOCKS) throw new ConnectionFault('PROXY_MALFORMED');
  if (!methods.includes(method)) throw new ConnectionFault('PROXY_LOGIN');
  if (method === BY_PASSWORD && login !== null) {
    socket.write(Buffer.concat([Buffer.from([1]), counted(login.name), counted(login.password)]));
    const [, status] = await answers.take(exactly(2));
    if (status !== 0) throw new ConnectionFault('PROXY_LOGIN');
  }
  const portBytes = Buffer.from([port >> 8, port & 0xff]);
  socket.write(Buffer.concat([Buffer.from([SOCKS, 1, 0]), socksAddress(host), portBytes]));
  const [answered, result] = await answers.take(exactly(2));
  if (answered !== SOCKS) throw new ConnectionFault('PROXY_MALFORMED');
  if (result !== 0) throw new ConnectionFault('PROXY_REFUSED');
  // The address from which the proxy calls.
  await answers.take(([, kind, length = 0]) => {
    if (kind === IPV4) return 2 + 4 + 2;
    if (kind === IPV6) return 2 + 16 + 2;
    return kind === NAME ? 2 + 1 + length + 2 : null;
  });
}

/** Text behind a byte with its length. */
function counted(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function socksAddress(host: string): Buffer {
  const bytes = addressBytes(host);
  if (bytes === null) return Buffer.concat([Buffer.from([NAME]), counted(host)]);
  return Buffer.concat([Buffer.from([bytes.length === 4 ? IPV4 : IPV6]), bytes]);
}
