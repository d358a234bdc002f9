/** The yardstick: the least that a Bun server can do for an answer. */

const BODY = JSON.stringify({ rc: 1, msg: 'Ok' });
const HEADERS = { 'content-type': 'application/json' };

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => new Response(BODY, { headers: HEADERS }),
});
process.stdout.write(`bare server listening on http://127.0.0.1:${server.port}\n`);
