/** Answers that are kept so that a call may be repeated: the part of the port. */

import type { Maybe } from './maybe.ts';

/** A call with a key of its caller: it is done once, however often it is repeated. */
export interface KeyedCall {
  key: string;
  /** Name of the call. */
  call: string;
  /** SHA-256 of its parameters, hexadecimal. */
  paramsHash: string;
  /** The time before which answers are too old, UTC ms. */
  afterMs: number;
  /** Most answers that are kept for a provider. */
  countMax: number;
}

/** The record that a call added. */
export interface Made {
  id: number;
  /** The code of a new link. */
  installCode?: string;
  /** True: an earlier call with the key added it. */
  isRepeat?: true | undefined;
}

/** Refusals of a key: another call or other parameters used it, or too many keys are stored. */
export type KeyRefusal = 'idempotency_key_reused' | 'idempotency_keys_full';

export interface IdempotencyStore {
  /** Finds the record of an earlier call with the key; null: none, or it is too old. */
  findMade(
    providerId: number,
    call: KeyedCall,
  ): Maybe<Made | Extract<KeyRefusal, 'idempotency_key_reused'> | null>;
  /** Deletes some answers from this time or before. Returns false if there were none. */
  forgetMade(untilMs: number): Promise<boolean>;
}
