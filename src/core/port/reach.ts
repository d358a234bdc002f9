/** Reach: which addresses that somebody else supplied may be called. */

/** A range of addresses of one family. */
export interface Network {
  isV6: boolean;
  /** The address as a number, without its last `shift` bits. */
  prefix: bigint;
  shift: bigint;
}

/** The operator's settings: which addresses that others supply may be called. */
export interface Reach {
  /** Networks that are called although they are not public. */
  readonly outgoingAllow: readonly Network[];
  /** Whether addresses without TLS are called. */
  readonly outgoingAllowHttp: boolean;
}
