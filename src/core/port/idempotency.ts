/** Answers that are kept so that a call may be repeated: the part of the port. */

import type { Maybe } from './maybe.ts';

/** A call with the key that its caller gave it: done once, however often it comes. */
export interface KeyedCall {
  key: string;
  /** Name of the call. */
  call: string;
  /** SHA-256 of its parameters, hexadecimal. */
  paramsHash: string;
  /** Answers of this time and before are too old, UTC ms. */
  afterMs: number;
  /** Most answers that are kept for a provider. */
  countMax: number;
}

/** The record that a call made. */
export interface Made {
  id: number;
  /** The code of a new link. */
  installCode?: string;
  /** True: an earlier call with the key made it. */
  isRepeat?: true | undefined;
}

/** Refusals of a key: another call or other parameters had it; as many keys are kept as may be. */
export type KeyRefusal = 'idempotency_key_reused' | 'idempotency_keys_full';

export interface IdempotencyStore {
  /** Finds what an earlier call with the key made; null: there was none, or it is too old. */
  findMade(
    providerId: number,
    call: KeyedCall,
  ): Maybe<Made | Extract<KeyRefusal, 'idempotency_key_reused'> | null>;
  /** Deletes some answers of this time and before. Returns false if there were none. */
  forgetMade(untilMs: number): Promise<boolean>;
}
