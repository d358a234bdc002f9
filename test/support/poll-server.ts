/** A server for a kit that polls: it names the waits in `x-wait-max` and notes what is asked. */

/** Answers polls at once, each with the next of `named` (null: no header); then lets them hang. */
export function startPollServer(named: readonly (string | null)[]) {
  /** `wait` of each poll that waits. */
  const waits: string[] = [];
  let answered = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const ok = { rc: 1, msg: 'Ok' };
      if (pathname === '/device/register') {
        return Response.json({ ...ok, device_token: 'x'.repeat(43) });
      }
      const wait = searchParams.get('wait');
      if (wait !== null) waits.push(wait);
      if (answered === named.length) return new Promise<Response>(() => {});
      const name = named[answered++] ?? null;
      const headers = name === null ? {} : { 'X-Wait-Max': name };
      return Response.json({ ...ok, data: [] }, { headers });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return { url, waits, stop: () => server.stop(true) };
}
