/**
 * A socket before a server inside: it learns who makes each connection, by the header of a proxy
 * or because only proxies come by it, and hands all further bytes on. The server inside listens on
 * a port of this machine; the port from which a connection came there says whose it is, and a
 * connection from another port is answered 403.
 */

import { PartyQueue } from '../../base/queue.ts';
import { isCallable } from '../../core/outbox/address.ts';
import type { CallerKind } from '../listener.ts';
import { countedAs, plainIPv4, type TrustedProxies } from '../request/address.ts';
import { CONNECTIONS_MAX } from './bounds.ts';
import { readHeader } from './header.ts';
import { Pipe } from './pipe.ts';

/** The time for a whole header, ms, and then for the first bytes after it. */
const HEADER_MAX_MS = 5_000;
const FIRST_BYTES_MAX_MS = 10_000;
/** The most connections that have sent no header or no first byte; half of them of one peer. */
const WAITING_MAX = 4_096;
/** The most connections of a client. */
const CONNECTIONS_PER_CLIENT_MAX = 1_024;

interface Caller {
  /** `check`: a proxy that asks for itself. */
  kind: CallerKind | 'check';
  address: string;
}

interface FrontOptions {
  /** Networks whose connections begin with a header; null: all do. Absent: none does. */
  named?: TrustedProxies | null;
  /** True: this is a Unix socket. */
  isSocket: boolean;
  /** The port of the server inside. */
  port: number;
  /** The addresses of this machine: no header may name one. */
  own: ReadonlySet<string>;
  /** Returns the parties that a client's connections have: more than one for a shared address. */
  turnsOf?(client: string): number;
  /** Hears of each refused header, with the peer and the reason. */
  onRefused(peer: string, why: string): void;
  /** Hears of each connection that is closed because there are too many. */
  onFull(): void;
  /** {@link HEADER_MAX_MS} by default. */
  headerMaxMs?: number;
}

/** The connections of a front. */
export class Front {
  readonly #callers = new Map<number, Connection>();
  #count = 0;
  readonly #open = new Set<Connection>();
  readonly #waiting = new PartyQueue<Connection>(() => ({ waitingMax: WAITING_MAX }));
  readonly #counted: PartyQueue<Connection>;

  constructor(readonly options: FrontOptions) {
    const waitingPerPartyMax = options.isSocket ? CONNECTIONS_MAX : CONNECTIONS_PER_CLIENT_MAX;
    this.#counted = new PartyQueue(() => ({ waitingMax: CONNECTIONS_MAX, waitingPerPartyMax }));
  }

  /** The number of open connections. */
  get size(): number {
    return this.#open.size;
  }

  /** Returns the caller whose connection reached the server from a port of this machine. */
  callerAt(port: number): Caller | undefined {
    return this.#callers.get(port)?.caller ?? undefined;
  }

  /**
   * Counts the connection behind a port for a party from now on. Closes it if the party has too
   * many.
   */
  countAs(port: number, party: string): void {
    const connection = this.#callers.get(port);
    if (connection === undefined || connection.countsAs === party) return;
    if (connection.caller?.kind === 'proxy') return;
    this.#counted.remove(connection.countsAs, connection);
    connection.countsAs = party;
    this.#bound(this.#counted, party, connection);
  }

  /** Returns the party of a client's next connection. */
  partyOf({ kind, address }: Pick<Caller, 'kind' | 'address'>): string {
    if (kind === 'proxy') return '';
    const client = countedAs(address);
    const turns = this.options.turnsOf?.(client) ?? 1;
    if (turns === 1) return client;
    this.#count = (this.#count + 1) % turns;
    return `${client} ${this.#count}`;
  }

  /** Returns whether a connection is open. */
  has(connection: Connection): boolean {
    return this.#open.has(connection);
  }

  /** Closes connections that have sent nothing for the server. */
  endWaiting(): void {
    for (const connection of [...this.#waiting.items()]) connection.close();
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const connection of [...this.#open]) connection.close();
  }

  /** The handlers of the listening socket. */
  readonly handlers: Bun.SocketHandler<Connection> = {
    open: (socket) => {
      // A peer that reset the connection before it was accepted has no address, and gets no data.
      if (!this.options.isSocket && socket.remoteAddress === undefined) {
        socket.terminate();
        return;
      }
      socket.data = new Connection(this, socket);
      this.#open.add(socket.data);
      this.#bound(this.#waiting, socket.data.waitsAs, socket.data);
    },
    data: (socket, bytes) => socket.data?.take(bytes),
    drain: (socket) => socket.data?.pipe?.outerDrained(),
    end: (socket) => socket.data?.ended(),
    close: (socket) => socket.data?.gone(),
    error: (socket) => socket.data?.close(),
  };

  /** Lets a connection wait as its client: others behind the same proxy are not held up by it. */
  waitAs(connection: Connection, party: string): void {
    this.#waiting.remove(connection.waitsAs, connection);
    connection.waitsAs = party;
    this.#bound(this.#waiting, party, connection);
  }

  /** Counts a connection under its client. Returns false if it may not be open. */
  enter(connection: Connection, caller: Caller): boolean {
    this.#waiting.remove(connection.waitsAs, connection);
    connection.countsAs = this.partyOf(caller);
    return this.#bound(this.#counted, connection.countsAs, connection);
  }

  /** Notes the connection behind a port before its first byte is sent there. */
  note(port: number, connection: Connection): void {
    this.#callers.set(port, connection);
  }

  /** Forgets a port before it is left: the next one on it is another caller, or program. */
  forget(port: number, connection: Connection): void {
    if (this.#callers.get(port) === connection) this.#callers.delete(port);
  }

  leave(connection: Connection): void {
    this.#open.delete(connection);
    this.#waiting.remove(connection.waitsAs, connection);
    this.#counted.remove(connection.countsAs, connection);
  }

  #bound(queue: PartyQueue<Connection>, party: string, connection: Connection): boolean {
    const surplus = queue.add(party, connection);
    if (surplus === null) return true;
    this.options.onFull();
    surplus.close();
    return surplus !== connection;
  }
}

/** A connection: first its header and its first bytes, then a pipe to the server. */
class Connection {
  readonly peer: string;
  /** The party under which it waits for its first bytes: its peer, then its client. */
  waitsAs: string;
  /** The party under which it is counted once it is known: its client, or a link. */
  countsAs = '';
  pipe: Pipe | null = null;
  #bytes: Buffer = Buffer.alloc(0);
  /** Known after the header. */
  caller: Caller | null = null;
  #isDialling = false;
  #isEnded = false;
  #port = 0;
  #timer: ReturnType<typeof setTimeout>;

  constructor(
    private readonly front: Front,
    private readonly socket: Bun.Socket<Connection>,
  ) {
    const { headerMaxMs = HEADER_MAX_MS, isSocket, named } = front.options;
    this.peer = isSocket ? '' : plainIPv4(socket.remoteAddress);
    this.waitsAs = this.peer;
    const needsHeader = named !== undefined && (named === null || named.includes(this.peer));
    if (!needsHeader) {
      this.caller = isSocket
        ? { kind: 'proxy', address: '127.0.0.1' }
        : { kind: 'peer', address: this.peer };
    }
    this.#timer = needsHeader
      ? setTimeout(() => this.#refuse('none in time'), headerMaxMs)
      : setTimeout(() => this.close(), FIRST_BYTES_MAX_MS);
  }

  take(bytes: Buffer): void {
    if (this.pipe !== null) {
      this.pipe.fromOuter(bytes);
      return;
    }
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#isDialling) this.#read();
  }

  ended(): void {
    if (this.pipe !== null) this.pipe.outerEnded();
    else if (this.#isDialling) this.#isEnded = true;
    else this.close();
  }

  close(): void {
    this.socket.terminate();
  }

  gone(): void {
    clearTimeout(this.#timer);
    this.front.leave(this);
    this.front.forget(this.#port, this);
    this.pipe?.outerClosed();
  }

  /** Reads the header, then one byte at least that begins no other one. */
  #read(): void {
    const read = readHeader(this.#bytes);
    if (read === 'part') return;
    if (read === 'none') {
      if (this.caller === null) this.#refuse('missing');
      else this.#dial(this.caller);
    } else if (this.caller !== null) {
      const isSecond = this.caller.kind === 'client' || this.caller.kind === 'check';
      this.#refuse(isSecond ? 'sent twice' : 'from a network that is not named');
    } else if ('malformed' in read) {
      this.#refuse(read.malformed);
    } else if (read.address !== null && !isCallable(read.address, [])) {
      this.#refuse('an address that is not public');
    } else if (read.address !== null && this.front.options.own.has(read.address)) {
      // Programs of this machine and all customers of a tunnel that ends here come from it.
      this.#refuse('an address of this machine');
    } else {
      this.#known(read.address, read.length);
    }
  }

  #known(address: string | null, length: number): void {
    this.caller =
      address === null ? { kind: 'check', address: this.peer } : { kind: 'client', address };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), FIRST_BYTES_MAX_MS);
    this.#bytes = this.#bytes.subarray(length);
    if (this.#bytes.length > 0) this.#read();
    else if (address !== null)
      this.front.waitAs(this, this.front.partyOf({ kind: 'client', address }));
  }

  #refuse(why: string): void {
    this.front.options.onRefused(this.peer, why);
    this.close();
  }

  #dial(caller: Caller): void {
    clearTimeout(this.#timer);
    this.#isDialling = true;
    if (!this.front.enter(this, caller)) return;
    this.socket.pause();
    const dialled = Bun.connect<null>({
      hostname: '127.0.0.1',
      port: this.front.options.port,
      allowHalfOpen: true,
      data: null,
      socket: {
        open: (inner) => this.#connected(inner),
        data: (_, bytes) => this.pipe?.fromInner(bytes),
        drain: () => this.pipe?.innerDrained(),
        end: () => this.#innerEnded(),
        close: () => this.#innerEnded(),
        error: () => this.close(),
        connectError: () => this.close(),
      },
    });
    dialled.catch(() => this.close());
  }

  #innerEnded(): void {
    this.front.forget(this.#port, this);
    this.pipe?.innerEnded();
  }

  #connected(inner: Bun.Socket<null>): void {
    if (!this.front.has(this)) {
      inner.terminate();
      return;
    }
    this.#port = inner.localPort;
    this.front.note(this.#port, this);
    this.pipe = new Pipe(this.socket, inner);
    this.socket.resume();
    this.pipe.fromOuter(this.#bytes);
    this.#bytes = Buffer.alloc(0);
    if (this.#isEnded) this.pipe.outerEnded();
  }
}
