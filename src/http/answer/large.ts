/** Large answers and bodies: each needs a place in a room; lists are read in pages. */

import type { Clock } from '../../base/clock.ts';
import type { AuthenticDevice } from '../../core/device.ts';
import { byteLength } from '../../core/json-input.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Provider } from '../../core/port/provider.ts';
import {
  BODY_ROOM,
  DEVICE_BODY_ROOM,
  DEVICE_ROOM,
  LARGE_BYTES,
  type Place,
  PROVIDER_ROOM,
  Room,
  type RoomBounds,
} from '../bound/room.ts';
import { Turns } from '../bound/turns.ts';
import type { MessageKey } from '../messages.ts';
import { type Row, type RowList, restOfList } from './list-text.ts';
import { bodyOf } from './respond.ts';

/** The caller of an answer or body. */
interface Caller {
  provider?: Provider | undefined;
  device?: AuthenticDevice | undefined;
  /** The session of the console. */
  session?: number | undefined;
  /** The provider that sent the messages in the answer. */
  sender?: number | undefined;
}

/** Returns the name under which a caller is counted; each token of a device has its own. */
export function callerName({ provider, device, session }: Caller): string {
  if (session !== undefined) return `session ${session}`;
  return device ? `device ${device.tokenId}` : `provider ${provider?.id}`;
}

/** A list in an answer: as the body, or serialised already. */
type Listed = { body: { data: readonly Row[] } } | { payload: Blob };

/** The rooms and turns of a server. */
export class Large {
  readonly #providers: Room;
  /** The room of devices' answers, frames of streams included. */
  readonly devices: Room;
  readonly #bodies: Room;
  readonly #deviceBodies: Room;
  readonly turns: Turns;

  /**
   * `isTaken` returns whether the kernel has the whole answer or the caller disconnected; `room`
   * replaces the rooms of answers in tests.
   */
  constructor(
    clock: Clock,
    private readonly isTaken: (request: Request) => boolean,
    room?: RoomBounds,
  ) {
    this.#providers = new Room(room ?? PROVIDER_ROOM, clock);
    this.devices = new Room(room ?? DEVICE_ROOM, clock);
    this.#bodies = new Room(BODY_ROOM, clock);
    this.#deviceBodies = new Room(DEVICE_BODY_ROOM, clock);
    this.turns = new Turns(clock);
  }

  get refusedCount(): number {
    const rooms = [this.#providers, this.devices, this.#bodies, this.#deviceBodies];
    return rooms.reduce((sum, { refusedCount }) => sum + refusedCount, 0);
  }

  /** Refuses all answers that wait. */
  close(): void {
    this.#providers.close();
    this.devices.close();
  }

  /** Takes a place for a body of at most `bytes`. Returns null if no place is free. */
  async enterBody(request: Request, from: Caller, bytes: number): Promise<Place | null> {
    const room = from.device ? this.#deviceBodies : this.#bodies;
    return room.enter({ caller: callerName(from), bytes, isTaken: () => this.isTaken(request) });
  }

  /** Waits for the place of a large text. Returns false if there is none. */
  async admit(request: Request, to: Caller, text: string): Promise<boolean> {
    return (await this.#enter(request, to, byteLength(text))) !== null;
  }

  /**
   * Reads a list. One with several pages is serialised in its place; returns null if no place is
   * free.
   */
  list(request: Request, to: Caller, says: MessageKey, list: RowList): Maybe<Listed | null> {
    if (!list.isOne) return this.#listPages(request, to, says, list);
    return after(list.read(null, list.pageCount), (data) => ({ body: { data } }));
  }

  async #listPages(
    request: Request,
    to: Caller,
    says: MessageKey,
    list: RowList,
  ): Promise<Listed | null> {
    const turn = () => this.turns.next(callerName(to));
    await turn();
    const { bytesMax, countMax, pageCount } = list;
    const data = await list.read(null, Math.min(pageCount, countMax));
    if (data.length < pageCount || data.length === countMax) return { body: { data } };
    const place = await this.#enter(request, to, bytesMax);
    if (place === null) return null;
    try {
      const begun = bodyOf(says, { data });
      const rest = await restOfList(list, data, turn);
      const payload = new Blob([begun.slice(0, -']}'.length), ...rest, ']}']);
      place.resize(payload.size);
      return { payload };
    } catch (fault) {
      place.leave();
      throw fault;
    }
  }

  async #enter(request: Request, to: Caller, bytes: number): Promise<Place | null> {
    const room = to.device ? this.devices : this.#providers;
    const isTaken = () => this.isTaken(request);
    return room.enter({ caller: callerName(to), bytes, sender: to.sender, isTaken });
  }
}

/** Returns whether a text needs a place. Counts characters: a text has at least as many bytes. */
export function isLarge(text: string): boolean {
  return text.length >= LARGE_BYTES;
}
