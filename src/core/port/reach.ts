/** The addresses from providers and devices that may be called. */

/** A range of addresses of one family. */
export interface Network {
  isV6: boolean;
  /** The address as a number without its last `shift` bits. */
  prefix: bigint;
  shift: bigint;
}

/** The operator's settings of reach. */
export interface Reach {
  /** Networks that may be called although they are not public. */
  readonly outgoingAllow: readonly Network[];
  /** True: addresses without TLS may be called. */
  readonly outgoingAllowHttp: boolean;
}
