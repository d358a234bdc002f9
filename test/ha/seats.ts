/**
 * Callers race for the places of links, round after round: a link with a cap, more devices than it
 * may hold, all at once over all nodes; then each that got in gives its place back and takes it
 * again under another name. No link may ever hold more than it may, nobody may be refused while
 * there is room, and who was answered must be there.
 */

import type { Credentials } from '../../src/core/provider.ts';
import type { Random } from '../support/random.ts';
import { HASH } from '../support/shop.ts';
import type { Client } from './client.ts';

const CAP_MAX = 100;
/** Devices beyond the cap. */
const TOO_MANY_MAX = 24;
const SWAPS_MAX = 4;
const REFUSED = 'Install limit reached';

interface Round {
  code: string;
  cap: number;
  /** Answered Ok, and not given back. */
  seated: Set<string>;
  refused: Set<string>;
  /** Asked for or given back, nobody knows. */
  unknown: Set<string>;
}

export class Seats {
  readonly problems: string[] = [];
  rounds = 0;
  refusals = 0;

  constructor(
    private readonly client: Client,
    private readonly own: Credentials,
    private readonly callerCount: number,
    private readonly random: Random,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const round = await this.#open();
      const hwids = Array.from(
        { length: round.cap + this.random.int(1, TOO_MANY_MAX) },
        (_, n) => `${round.code}-${n}`,
      );
      await this.#together((caller) => this.#enter(round, hwids, caller));
      await this.#check(round, 'after the race');
      const seated = [...round.seated];
      await this.#together((caller) => this.#swap(round, seated, caller));
      await this.#check(round, 'after the swaps');
      this.rounds += 1;
    }
  }

  async #together(act: (caller: number) => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: this.callerCount }, (_, caller) => act(caller)));
  }

  async #open(): Promise<Round> {
    const cap = this.random.int(1, CAP_MAX);
    for (;;) {
      const code = this.random.text(12, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
      const query = { install_code: code, install_limit: cap };
      // A link that may be there is left alone.
      const json = await this.client.ask('/api/add-install', this.own, query);
      if (json === null) continue;
      if (json.rc !== 1) this.problems.push(`add-install: ${json.msg}`);
      return { code, cap, seated: new Set(), refused: new Set(), unknown: new Set() };
    }
  }

  /** Each caller brings every so-manieth of the devices. */
  async #enter(round: Round, hwids: readonly string[], caller: number): Promise<void> {
    for (let n = caller; n < hwids.length; n += this.callerCount) {
      await this.#knock(round, hwids[n] ?? '');
    }
  }

  async #knock(round: Round, hwid: string): Promise<void> {
    const query = { id: HASH, installid: round.code, hwid };
    const json = await this.client.ask('/install', null, query);
    if (json === null) round.unknown.add(hwid);
    else if (json.rc === 1) round.seated.add(hwid);
    else if (json.msg === REFUSED) round.refused.add(hwid);
    else this.problems.push(`/install: ${json.msg}`);
    if (json?.msg === REFUSED) this.refusals += 1;
  }

  /** Gives places back and takes them again; as nobody else comes, each is free. */
  async #swap(round: Round, seated: readonly string[], caller: number): Promise<void> {
    const { code } = round;
    for (let n = caller; n < seated.length; n += this.callerCount) {
      let hwid = seated[n] ?? '';
      for (let swap = this.random.int(0, SWAPS_MAX); swap > 0; swap--) {
        const query = { install_code: code, hwid };
        const freed = await this.client.ask('/api/delete-hwid', this.own, query);
        round.seated.delete(hwid);
        if (freed === null) round.unknown.add(hwid);
        else if (freed.rc !== 1) this.problems.push(`delete-hwid: ${freed.msg}`);
        hwid = `${hwid}x`;
        await this.#knock(round, hwid);
        if (round.refused.has(hwid) && round.unknown.size === 0) {
          this.problems.push(`${hwid} was refused though a place was free`);
        }
        if (!round.seated.has(hwid)) break;
      }
    }
  }

  async #check(round: Round, when: string): Promise<void> {
    const { code, cap, seated, refused, unknown } = round;
    const list = await this.client.insist('/api/list-hwid', this.own, { install_code: code });
    const there = new Set(list.data.map(({ hwid }: { hwid: string }) => hwid));
    const wrong = (what: string) => this.problems.push(`${code} (${cap}) ${when}: ${what}`);
    if (there.size > cap) wrong(`holds ${there.size}`);
    for (const hwid of seated) if (!there.has(hwid)) wrong(`${hwid} was let in and is not there`);
    for (const hwid of refused) if (there.has(hwid)) wrong(`${hwid} was refused and is there`);
    const strange = [...there].filter(
      (hwid) => !seated.has(hwid as string) && !unknown.has(hwid as string),
    );
    if (strange.length > 0) wrong(`holds ${strange.join()}`);
    const isFull = there.size === cap || unknown.size > 0;
    if (refused.size > 0 && !isFull) wrong(`holds ${there.size}, and others were refused`);
  }
}
