/** The WebSocket of a browser, which shows neither pings nor why a handshake failed. */

import { CUT, type Ended, type Handshake, type Socket, type SocketEvents } from './socket.ts';

/** Opens a socket; the token is in a subprotocol, because a browser sends no headers of a page. */
export function openPageSocket({ url, token, frameMax }: Handshake, on: SocketEvents): Socket {
  const address = new URL(url.replace(/^http/, 'ws'));
  if (frameMax !== undefined) address.searchParams.set('frame_max', `${frameMax}`);
  const socket = new WebSocket(address, ['gatepost', `bearer.${token}`]);
  let hasEnded = false;
  const end = ({ code, reason }: Ended) => {
    if (hasEnded) return;
    hasEnded = true;
    on.end({ code, reason });
  };
  socket.onopen = () => on.open(null);
  socket.onmessage = ({ data }) => {
    if (hasEnded) return;
    on.heard();
    on.text(String(data));
  };
  socket.onclose = end;
  socket.onerror = () => end(CUT);
  return {
    get isOpen() {
      return !hasEnded && socket.readyState === WebSocket.OPEN;
    },
    showsPings: false,
    send: (text) => socket.send(text),
    end(reason = '') {
      // The server of a dead network never answers a close frame: nothing here waits for it.
      end({ ...CUT, reason });
      socket.close();
    },
  };
}
