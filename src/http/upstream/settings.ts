/** The settings of panels behind Gatepost. */

import type { KeyPath, PassPath } from '../../core/key-path.ts';
import type { Reason } from '../../core/outcome.ts';
import type { AdmitRefusal } from '../../core/port/slot.ts';

export interface Upstream {
  /** The host in requests of clients, in the form of `hostName`. */
  readonly host: string;
  /** Scheme, host, port and a prefix of paths, without a slash at its end. */
  readonly url: string;
  /** The code of the provider that owns the links. */
  readonly provider: string;
  /** Templates of paths with a key; none: links are named by `installid` alone. */
  readonly keyPaths: readonly KeyPath[];
  /** Paths that belong to no subscription; see `mayPass`. */
  readonly passPaths: readonly PassPath[];
  /** The limit of a link that is created for a new key. */
  readonly defaultLimit: number;
  readonly browsers: 'pass' | 'refuse';
  /** Paths that fit no template. */
  readonly otherPaths: 'pass' | 'refuse';
  /** The HTTP status of a refusal. */
  readonly refusedStatus: number;
  /** The longest silence of the panel, before its answer and within it, ms. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  /** Requests in flight at a time. */
  readonly requestsMax: number;
  /** The `Host` of requests to the panel. */
  readonly hostHeader: 'original' | 'upstream';
}

/** Refusals with a text for people. */
export type GateReason = Exclude<AdmitRefusal, Reason>;

/** Texts by language (a tag in lower case), then by reason. */
export type GateTexts = Readonly<Record<string, Readonly<Partial<Record<GateReason, string>>>>>;

/** Settings that are read for each request, so that a change applies at once. */
export interface UpstreamSettings {
  /** A new array after each change. */
  readonly gateUpstreams: readonly Upstream[];
  readonly gateTexts: GateTexts;
  /** The language for clients that accept none of the languages of the texts. */
  readonly gateLanguage: string;
}
