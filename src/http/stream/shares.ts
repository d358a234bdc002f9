/**
 * The shares of all streams. No provider takes those of others, and devices of no provider, of
 * which a client can make up any number, take half at most.
 */

import { PartyQueue } from '../../base/queue.ts';
import type { AuthenticDevice } from '../../core/device.ts';
import { networkOf } from '../request/address.ts';
import type { DeviceStream } from './device-stream.ts';

const STRANGERS_SHARE = 1 / 2;

const providerOf = ({ providerId }: AuthenticDevice) =>
  providerId === null ? null : `provider ${providerId}`;

export class StreamShares {
  readonly #devices: PartyQueue<DeviceStream>;
  readonly #strangers: PartyQueue<DeviceStream>;

  /** Reads `countMax` each time, so that a changed setting applies at once. */
  constructor(private readonly countMax: () => number) {
    // A provider alone may have all.
    this.#devices = new PartyQueue(() => ({
      waitingMax: countMax(),
      waitingPerPartyMax: countMax(),
    }));
    this.#strangers = new PartyQueue(() => ({
      waitingMax: Math.ceil(countMax() * STRANGERS_SHARE),
    }));
  }

  get #isFull(): boolean {
    return this.#devices.size + this.#strangers.size >= this.countMax();
  }

  /** Returns whether {@link add} takes a stream of the device. */
  takes(device: AuthenticDevice, party: string): boolean {
    const provider = providerOf(device);
    if (provider === null) return !this.#isFull && this.#strangers.takes(networkOf(party));
    return !this.#isFull || this.#strangers.size > 0 || this.#devices.takes(provider);
  }

  /**
   * Adds a stream. Returns the one that must end for it: itself if there is no room, else one of a
   * stranger, or the newest of the party with most. Null: none.
   */
  add(stream: DeviceStream): DeviceStream | null {
    const { party } = stream.socket.data;
    if (!this.takes(stream.device, party)) return stream;
    const provider = providerOf(stream.device);
    if (provider === null) return this.#strangers.add(networkOf(party), stream);
    const stranger = this.#isFull ? (this.#strangers.take()?.item ?? null) : null;
    return this.#devices.add(provider, stream) ?? stranger;
  }

  remove(stream: DeviceStream): void {
    const { device, socket } = stream;
    const provider = providerOf(device);
    if (provider === null) this.#strangers.remove(networkOf(socket.data.party), stream);
    else this.#devices.remove(provider, stream);
  }
}
