/** HTTP as bytes, for what `fetch` would tidy up or refuse to send. */

import { connect } from 'node:net';

export interface RawReply {
  status: number;
  /** The headers by their lower-case names. */
  headers: Map<string, string>;
  /** Everything after the empty line, as UTF-8. */
  text: string;
}

/**
 * Sends `method target` with `headers` ("name: value" lines) and no body; the request goes out as
 * UTF-8, or byte for byte if it is given as bytes. Waits until the server closes the connection.
 */
export function rawRequest(
  app: { url: string },
  method: string,
  target: string | Uint8Array,
  headers: readonly (string | Uint8Array)[] = [],
): Promise<RawReply> {
  const { hostname, port } = new URL(app.url);
  const lines = [`host: ${hostname}`, 'connection: close', ...headers];
  const head = Buffer.concat([
    Buffer.from(`${method} `),
    bytes(target),
    Buffer.from(' HTTP/1.1\r\n'),
    ...lines.flatMap((line) => [bytes(line), Buffer.from('\r\n')]),
    Buffer.from('\r\n'),
  ]);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(head));
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on('error', reject);
    socket.on('close', () => resolve(parse(Buffer.concat(chunks))));
  });
}

function bytes(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

function parse(answer: Buffer): RawReply {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`no HTTP answer: ${answer.toString('latin1')}`);
  const [statusLine = '', ...lines] = answer.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text: answer.subarray(end + 4).toString('utf8'),
  };
}
