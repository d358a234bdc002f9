/** Connections as proxies make them: with headers of the PROXY protocol, and by Unix sockets. */

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where to connect: the address of a server, or the path of a socket. */
export type Place = { url: string } | string;

export function dial(place: Place): Socket {
  if (typeof place === 'string') return connect({ path: place });
  const { hostname, port } = new URL(place.url);
  return connect({ host: hostname, port: Number(port), noDelay: true });
}

/** Sends the parts one after the other; returns all that comes until the connection is closed. */
export function exchange(place: Place, ...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = dial(place);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    // A refused connection is reset.
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.on('connect', async () => {
      for (const part of parts) {
        await new Promise((sent) => socket.write(part, sent));
        await new Promise(setImmediate);
      }
    });
  });
}

/** Sends a header, then a request by TLS; returns the name of the certificate, and the answer. */
export function exchangeByTls(place: Place, header: string | Buffer, request: string) {
  return new Promise<{ name: string; answer: string }>((resolve, reject) => {
    const socket = dial(place);
    socket.write(header);
    const tls = connectTls({ socket, rejectUnauthorized: false, servername: 'sub.example.com' });
    let [answer, name] = ['', ''];
    tls.on('error', reject);
    tls.on('secureConnect', () => {
      name = String(tls.getPeerCertificate().subject.CN);
      tls.write(request);
    });
    tls.on('data', (chunk) => {
      answer += chunk;
    });
    tls.on('close', () => resolve({ name, answer }));
  });
}

/** A request after which the connection ends. */
export const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'host: localhost', 'connection: close', ...headers, '', ''].join('\r\n');

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** A header of version 2; `bytes` follow its length. */
export function binary(command: number, family: number, bytes: Buffer | number[]): Buffer {
  const length = [bytes.length >> 8, bytes.length & 255];
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, ...length]), Buffer.from(bytes)]);
}

/** A header of version 2 for a client of IPv4, with `more` extensions. */
export function binaryFrom(address: string, more = Buffer.alloc(0)): Buffer {
  const ends = [...address.split('.').map(Number), 10, 0, 0, 1, 0x10, 0x92, 0x01, 0xbb];
  return binary(0x21, 0x11, Buffer.concat([Buffer.from(ends), more]));
}

export const line = (address: string, family = address.includes(':') ? 'TCP6' : 'TCP4') =>
  `PROXY ${family} ${address} ${family === 'TCP6' ? '2a00::1' : '10.0.0.1'} 4242 443\r\n`;
