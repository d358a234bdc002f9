/** Handles messages, each once, and acknowledges them. */

import type { Keeper } from './keeper.ts';
import type { Answer, Line } from './line.ts';
import { actionOf, COMMAND, type Message, textsOf, unknownIn } from './message.ts';
import type { DeviceOptions } from './options.ts';
import { type Ack, isAckState, knowing, owing, seenIn, without, writeState } from './state.ts';

/** The most acknowledgements of one request. */
const ACKS_EACH = 100;

export class Inbox {
  constructor(
    private readonly options: DeviceOptions,
    private readonly keeper: Keeper,
    private readonly device: {
      line(): Line;
      isOver(): boolean;
      log(line: string): void;
      onFailed(token: string, answer: Answer): Promise<void>;
    },
  ) {}

  /** Handles messages one after the other. Returns false if some are to come again. */
  async take(messages: readonly Message[]): Promise<boolean> {
    let isWhole = true;
    const taken = messages.map((one) =>
      this.keeper.step(async () => {
        isWhole = isWhole && (await this.#handle(one));
      }),
    );
    await Promise.all(taken);
    return isWhole;
  }

  /**
   * Sends unconfirmed acknowledgements, on the stream or by a call. Returns false if some could not
   * be sent.
   */
  async sendAcks(): Promise<boolean> {
    const { acks, token } = await this.keeper.now();
    const line = this.device.line();
    const due = acks.filter((ack) => !line.isUnderWay(ack));
    for (let from = 0; from < due.length; from += ACKS_EACH) {
      if (this.device.isOver() || token === null) return false;
      const some = due.slice(from, from + ACKS_EACH);
      if (line.isOpen) {
        line.acknowledge(some);
        continue;
      }
      const answer = await line.ask('/ack', token, { items: some });
      if (answer.rc !== 1) {
        await this.device.onFailed(token, answer);
        return false;
      }
      await this.confirmed(some);
    }
    return true;
  }

  confirmed(acks: readonly Ack[]): Promise<void> {
    return this.keeper.change((state) => without(state, acks));
  }

  /**
   * Handles a new message. Acknowledges a duplicate again: the first acknowledgement may be lost.
   * Returns false if the message is to come again.
   */
  async #handle(given: Message): Promise<boolean> {
    if (this.device.isOver()) return true;
    const state = await this.keeper.read();
    const { id } = given;
    const before = seenIn(state, id);
    if (before !== null) {
      await this.keeper.write(owing(state, { id, state: before }));
      return true;
    }
    const message = given.stub === true ? await this.#whole(id, state.token) : given;
    if (message === 'gone') return true;
    if (message === null) return false;
    const usual = message.notification_type === COMMAND ? 'executed' : 'received';
    const known = knowing(state, { id, state: usual });
    const ack: Ack = { id, state: usual };
    try {
      const unknown = unknownIn(message);
      if (unknown !== null) throw new Error(unknown);
      const said = await this.options.onMessage({
        message,
        action: actionOf(message),
        state: writeState(known),
        texts: textsOf(message, this.options.locale ?? ''),
      });
      if (said === 'kept') {
        this.keeper.wasWritten(known);
        return true;
      }
      if (isAckState(said)) ack.state = said;
      else if (said !== undefined) this.device.log(`onMessage returned ${said}, which is no state`);
    } catch (error) {
      ack.state = 'failed';
      ack.detail = textOf(error);
    }
    await this.keeper.write(knowing(state, ack));
    return true;
  }

  /** Fetches the message of a stub; null: there is no answer. */
  async #whole(id: number, token: string | null): Promise<Message | 'gone' | null> {
    const { rc, data } = await this.device.line().ask(`/inbox?id=${id}`, token, null);
    if (rc !== 1) return null;
    if (data === undefined || data.length === 0) return 'gone';
    return data.find((one) => one.id === id && one.stub !== true) ?? null;
  }
}

export const textOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
