/** The panels that Gatepost stands in front of, as the operator names them. */

import type { KeyPath, PassPath } from '../../core/key-path.ts';
import type { Reason } from '../../core/outcome.ts';
import type { AdmitRefusal } from '../../core/port/slot.ts';

export interface Upstream {
  /** The host that clients ask for, in the form of `hostName`. */
  readonly host: string;
  /** Scheme, host, port and a path to put in front, without a slash at its end. */
  readonly url: string;
  /** The code of the provider whose links these are. */
  readonly provider: string;
  /** Templates of paths with a key; none: links are named by `installid` alone. */
  readonly keyPaths: readonly KeyPath[];
  /** Paths that belong to no subscription; see `mayPass`. */
  readonly passPaths: readonly PassPath[];
  /** The limit of a link that is made for a new key. */
  readonly defaultLimit: number;
  readonly browsers: 'pass' | 'refuse';
  /** Paths that fit no template. */
  readonly otherPaths: 'pass' | 'refuse';
  /** The HTTP status of a refusal. */
  readonly refusedStatus: number;
  /** The time for which the panel may say nothing, before its answer and within it, ms. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  /** Requests that may be under way at a time. */
  readonly requestsMax: number;
  /** The host that the panel is told. */
  readonly hostHeader: 'original' | 'upstream';
}

/** Refusals that have a text for people. */
export type GateReason = Exclude<AdmitRefusal, Reason>;

/** Texts by language (a tag in lower case), then by reason. */
export type GateTexts = Readonly<Record<string, Readonly<Partial<Record<GateReason, string>>>>>;

/** Settings that are looked at for each request, so that a change holds at once. */
export interface UpstreamSettings {
  /** Another array after each change. */
  readonly gateUpstreams: readonly Upstream[];
  readonly gateTexts: GateTexts;
  /** The language for those who name none that there are texts in. */
  readonly gateLanguage: string;
}
