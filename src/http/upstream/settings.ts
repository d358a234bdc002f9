/** The settings of panels behind Gatepost. */

import type { KeyPath, PassPath } from '../../core/key-path.ts';
import type { PanelKey, PanelKind } from '../../core/panel/kind.ts';
import type { Way } from '../../core/port/way.ts';
import type { AnnounceMode } from '../../core/ride/text.ts';
import type { TextSettings } from '../gate/texts.ts';

export interface Upstream extends Way {
  /** The host in requests of clients, in the form of `hostName`. */
  readonly host: string;
  /** Scheme, host, port and a prefix of paths, without a slash at its end. */
  readonly url: string;
  /** The code of the provider that owns the links. */
  readonly provider: string;
  /** Templates of paths with a key; none: links are named by `installid` alone. */
  readonly keyPaths: readonly KeyPath[];
  /** The kind of key in the segment. */
  readonly key: PanelKey;
  /** True: a key that no link has names the link with this code, if that has no key. */
  readonly codesAsKeys: boolean;
  /** The file with the secret that signs tokens; empty: the panel proves them. */
  readonly keySecretFile: string;
  /** Paths that belong to no subscription; see `mayPass`. */
  readonly passPaths: readonly PassPath[];
  /** `panel`: links take their limits from the panel's API. */
  readonly limits: 'own' | 'panel';
  /** `panel`: figures of subscriptions are read from the panel's API too; see `readsFigures`. */
  readonly read: 'proxy' | 'panel';
  /** The kind of panel, for its API and its refusals; empty: none. */
  readonly panel: PanelKind | '';
  /** The URL of the API; empty: `url`. */
  readonly panelUrl: string;
  /** The file with the token of the API; empty: none. */
  readonly panelTokenFile: string;
  /** The file with an account of the panel, in place of a token; empty: none. */
  readonly panelAccountFile: string;
  /** The file with further headers for the API; empty: none. */
  readonly panelHeadersFile: string;
  /** Time between two passes of `follow`, ms; 0: none. */
  readonly followMs: number;
  /** The panel's SQLite file, which `follow` reads; empty: it asks the API. */
  readonly panelFile: string;
  /** `disable`: the link of a user who is gone from the panel is disabled. */
  readonly followGone: 'tell' | 'disable';
  /** True: `follow` brings names and notes. */
  readonly followNotes: boolean;
  /** True: the operator lets Gatepost change credentials at the panel. */
  readonly cutOff: boolean;
  /** The admin, group or squad of the provider's users at the panel; empty: all users. */
  readonly panelAdmin: string;
  /** The limit of links whose panel says that their user has none. */
  readonly unlimitedAs: number;
  /** The limit of a link that is created for a new key. */
  readonly defaultLimit: number;
  /** False: links only count, unless they or their provider have their own setting. */
  readonly enforce: boolean;
  readonly browsers: 'pass' | 'refuse';
  /** Paths that fit no template. */
  readonly otherPaths: 'pass' | 'refuse';
  /** `panel`: apps get the refusals of `panel`; `own`: the next two settings apply. */
  readonly refusedAs: 'own' | 'panel';
  /** The HTTP status of a refusal. */
  readonly refusedStatus: number;
  /** True: an app gets a refusal as a subscription with one server whose name is the reason. */
  readonly placeholder: boolean;
  /** The longest silence of the panel, before its response and within it, ms. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  /** Requests in flight at a time. */
  readonly requestsMax: number;
  /** The `Host` of requests to the panel. */
  readonly hostHeader: 'original' | 'upstream';
  /** Which announcement a response has, the message's or the panel's, or both. */
  readonly announce: AnnounceMode;
}

/** Settings that are read for each request, so that a change applies at once. */
export interface UpstreamSettings extends TextSettings {
  /** The upstreams; a new array after each change. */
  readonly gateUpstreams: readonly Upstream[];
}
