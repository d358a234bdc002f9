/**
 * Another caller, in a process of its own: asks one small thing again and again over one
 * connection. For each line on stdin it prints its longest wait since the line before, ms.
 */

import { connect } from 'node:net';

const PAUSE_MS = 0.5;

const [host = '', port = '', target = ''] = process.argv.slice(2);
const request = `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
let longestMs = 0;
let startMs: number | null = null;
const waitedMs = () => (startMs === null ? 0 : performance.now() - startMs);
const socket = connect(Number(port), host);
const ask = () => {
  startMs = performance.now();
  socket.write(request);
};
socket.on('connect', ask);
socket.on('data', () => {
  longestMs = Math.max(longestMs, waitedMs());
  startMs = null;
  setTimeout(ask, PAUSE_MS);
});
for await (const _ of console) {
  console.log(Math.max(longestMs, waitedMs()));
  longestMs = 0;
}
process.exit(0);
