/** A foreign server: it speaks TLS and answers each request by its path. */

import { createServer, type TLSSocket } from 'node:tls';
import { systemClock } from '../../src/base/clock.ts';
import { readNetwork } from '../../src/core/outbox/address.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import { Outgoing, type OutgoingSettings } from '../../src/outgoing/outgoing.ts';
import { selfSigned } from '../support/certificate.ts';
import { NO_PROXIES } from '../support/outgoing-proxy.ts';

export const NAME = 'hooks.example.com';

export interface Heard {
  /** Head and body as they came. */
  text: string;
  /** The connection, counted from 1. */
  connection: number;
}

export interface Stranger {
  port: number;
  /** Its certificate, to be trusted. */
  ca: string;
  heard: Heard[];
  /** Connections that are open. */
  open: Set<TLSSocket>;
  url(path: string, name?: string): string;
  stop(): void;
}

type Answer = (socket: TLSSocket) => void;

/** An answer with a body. */
export function saying(body: string, head = ''): Answer {
  const text = `HTTP/1.1 200 OK\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  return (socket) => socket.write(text);
}

export async function startStranger(paths: Readonly<Record<string, Answer>>): Promise<Stranger> {
  const { cert, key } = await selfSigned(NAME, { names: [NAME, 'localhost', '127.0.0.1'] });
  const heard: Heard[] = [];
  const open = new Set<TLSSocket>();
  let count = 0;
  const server = createServer({ cert, key }, (socket) => {
    count += 1;
    const connection = count;
    let text = '';
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      heard.push({ text, connection });
      text = '';
      paths[/^\w+ ([^ ?]+)/.exec(head)?.[1] ?? '']?.(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    heard,
    open,
    ca: cert,
    url: (path, name = NAME) => `https://${name}:${port}${path}`,
    stop: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** This machine as a network that the operator lists, as tests have no other. */
export const HERE = [readNetwork('127.0.0.0/8') ?? []].flat();

export const SETTINGS: OutgoingSettings = {
  ...NO_PROXIES,
  outgoingAllow: HERE,
  outgoingAllowHttp: false,
  outgoingOriginRate: 100_000,
};

/** A client for which every name leads to this machine, unless `names` says otherwise. */
export function outgoingTo(
  stranger: Pick<Stranger, 'ca'> | null,
  names: Readonly<Record<string, readonly string[]>> = {},
  settings: OutgoingSettings = SETTINGS,
): Outgoing {
  return new Outgoing({
    settings,
    clock: systemClock,
    files: { ca: stranger?.ca ?? null, logins: new Map() },
    resolve: async (name) => names[name] ?? ['127.0.0.1'],
  });
}

/** A call to a URL of a provider or device, with time enough for a busy machine. */
export function callTo(url: string, changes: Partial<OutgoingCall> = {}): OutgoingCall {
  return {
    destination: 'webhook',
    method: 'POST',
    url,
    trust: 'untrusted',
    headers: {},
    body: 'hello',
    timeoutMs: 30_000,
    answerBytesMax: 1024,
    originConcurrency: 4,
    ...changes,
  };
}

/** A signal that is never aborted. */
export const PATIENT = new AbortController().signal;
