/** A proxy of outgoing calls: SOCKS5 or HTTP CONNECT, with a login or without. */

import net from 'node:net';
import type { ProxyAddress, ProxyLogin, ProxySettings } from '../../src/outgoing/proxy.ts';

export const NO_PROXIES: ProxySettings = {
  outgoingProxyTelegram: null,
  outgoingProxyFcm: null,
  outgoingProxyApns: null,
  outgoingProxyUpdate: null,
  outgoingProxyWebhooks: null,
  outgoingProxyPorts: [443],
};

interface ProxyOptions {
  /** The login that it asks for; absent: none. */
  login?: ProxyLogin;
  /** False: it refuses all; `never`: it says nothing. All names lead to this machine. */
  passes: boolean | 'never';
}

export interface TestProxy {
  address: ProxyAddress;
  /** The targets that it was asked for. */
  readonly asked: string[];
  /** Its connections that are open. */
  readonly open: ReadonlySet<net.Socket>;
  options: ProxyOptions;
  stop(): void;
}

/** Reads from a socket what is asked for. */
class Bytes {
  #held = Buffer.alloc(0);
  #wake = () => {};

  constructor(private readonly socket: net.Socket) {
    socket.on('data', this.#add);
  }

  #add = (bytes: Buffer) => {
    this.#held = Buffer.concat([this.#held, bytes]);
    this.#wake();
  };

  async take(count: number): Promise<Buffer> {
    await this.#until(() => this.#held.length >= count);
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async head(): Promise<string> {
    await this.#until(() => this.#held.includes('\r\n\r\n'));
    return (await this.take(this.#held.indexOf('\r\n\r\n') + 4)).toString('latin1');
  }

  end(): void {
    this.socket.off('data', this.#add);
  }

  async #until(is: () => boolean): Promise<void> {
    while (!is()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Starts a proxy; what it refuses, it refuses as real ones do. */
export async function startProxy(
  kind: ProxyAddress['kind'],
  options: ProxyOptions,
): Promise<TestProxy> {
  const open = new Set<net.Socket>();
  const asked: string[] = [];
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    void (kind === 'socks5' ? serveSocks : serveConnect)(socket, new Bytes(socket), made);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const made: TestProxy = {
    address: { kind, host: '127.0.0.1', port },
    asked,
    open,
    options,
    stop: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
  return made;
}

/** Joins a client with the target; answers as the protocol does. */
function join(
  client: net.Socket,
  bytes: Bytes,
  { asked, options }: TestProxy,
  [yes, no]: [string, string],
): void {
  if (options.passes === 'never') return;
  if (!options.passes) {
    client.end(no, 'latin1');
    return;
  }
  const port = Number(asked.at(-1)?.split(':').at(-1));
  const target = net.connect(port, '127.0.0.1', () => {
    bytes.end();
    client.write(yes, 'latin1');
    client.pipe(target).pipe(client);
  });
  target.on('error', () => client.destroy());
  client.on('close', () => target.destroy());
}

async function serveConnect(client: net.Socket, bytes: Bytes, proxy: TestProxy): Promise<void> {
  const head = await bytes.head();
  const { login } = proxy.options;
  const basic = login && Buffer.from(`${login.name}:${login.password}`).toString('base64');
  if (login !== undefined && !head.includes(`proxy-authorization: Basic ${basic}\r\n`)) {
    client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    return;
  }
  proxy.asked.push(/^CONNECT (\S+) /.exec(head)?.[1] ?? head);
  const refused = 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n';
  join(client, bytes, proxy, ['HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n', refused]);
}

async function serveSocks(client: net.Socket, bytes: Bytes, proxy: TestProxy): Promise<void> {
  const [, count = 0] = await bytes.take(2);
  const methods = await bytes.take(count);
  const { login } = proxy.options;
  const method = login === undefined ? 0 : 2;
  if (!methods.includes(method)) {
    client.end(Buffer.from([5, 0xff]));
    return;
  }
  client.write(Buffer.from([5, method]));
  if (login !== undefined) {
    await bytes.take(1);
    const name = (await bytes.take((await bytes.take(1))[0] ?? 0)).toString();
    const password = (await bytes.take((await bytes.take(1))[0] ?? 0)).toString();
    const fits = name === login.name && password === login.password;
    if (!fits) {
      client.end(Buffer.from([1, 1]));
      return;
    }
    client.write(Buffer.from([1, 0]));
  }
  const [, , , kind] = await bytes.take(4);
  const length = { 1: 4, 4: 16 }[kind as 1] ?? (await bytes.take(1))[0] ?? 0;
  const host = await bytes.take(length);
  const port = (await bytes.take(2)).readUInt16BE();
  proxy.asked.push(`${kind === 3 ? host.toString() : [...host].join('.')}:${port}`);
  const reply = (code: number) => `\x05${String.fromCharCode(code)}\0\x01\0\0\0\0\0\0`;
  join(client, bytes, proxy, [reply(0), reply(5)]);
}
