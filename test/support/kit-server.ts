/** A server for a kit that does as a test says: it registers all, and notes what it hears. */

import type { ServerWebSocket } from 'bun';

export interface KitServer {
  url: string;
  /** Frames that devices sent. */
  frames: string[];
  /** Pongs that they sent. */
  pongs: number;
  /** What its inbox holds. */
  inbox: unknown[];
  /** Streams that it refused. */
  refused: number;
  /** Questions to its inbox. */
  asked: number;
  /** What a test holds back: the refusal of a stream, and the answer of the inbox. */
  held: Partial<Record<'stream' | 'inbox', Promise<void>>>;
  stream: ServerWebSocket<undefined> | null;
  stop(): Promise<void>;
}

export const messageOf = (id: number) => ({
  id,
  notification_type: 10,
  created_at: '',
  expires_at: '',
  payload: { title: `no ${id}`, body: 'text' },
});

/** Starts it; without `streams` it refuses each stream, as a proxy does that knows no WebSocket. */
export function startKitServer(streams: boolean): KitServer {
  const ok = { rc: 1, msg: 'Ok' };
  const state: KitServer = {
    url: '',
    frames: [],
    pongs: 0,
    inbox: [],
    refused: 0,
    asked: 0,
    held: {},
    stream: null,
    stop: () => server.stop(true),
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request, self) {
      const { pathname } = new URL(request.url);
      if (pathname === '/device/register') {
        return Response.json({ ...ok, device_token: 'x'.repeat(43) });
      }
      if (pathname === '/device/inbox') {
        state.asked += 1;
        await state.held.inbox;
        return Response.json({ ...ok, data: state.inbox });
      }
      if (pathname === '/device/ack') return Response.json(ok);
      if (streams && self.upgrade(request)) return;
      state.refused += 1;
      await state.held.stream;
      return new Response('', { status: 502 });
    },
    websocket: {
      open(socket: ServerWebSocket<undefined>) {
        state.stream = socket;
      },
      message(_, text) {
        state.frames.push(String(text));
      },
      pong() {
        state.pongs += 1;
      },
    },
  });
  state.url = `http://127.0.0.1:${server.port}`;
  return state;
}
