/** The settings of panels behind Gatepost. */

import type { KeyPath, PassPath } from '../../core/key-path.ts';
import type { PanelApi } from '../../core/panel-limit.ts';
import type { PanelKey } from '../../core/panel-token.ts';
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
  /** What the segment of the key is. */
  readonly key: PanelKey;
  /** The file with the secret that signs tokens; empty: the panel proves them. */
  readonly keySecretFile: string;
  /** Paths that belong to no subscription; see `mayPass`. */
  readonly passPaths: readonly PassPath[];
  /** `panel`: links take the limits that the API of the panel says. */
  readonly limits: 'own' | 'panel';
  /** The panel whose API that is, and whose refusals apps know; empty: none. */
  readonly panel: PanelApi | '';
  /** The URL of the API; empty: `url`. */
  readonly panelUrl: string;
  /** The file with the token of the API; empty: none. */
  readonly panelTokenFile: string;
  /** The limit of a link that is created for a new key. */
  readonly defaultLimit: number;
  /** False: links without a setting of their own, or of their provider, only count. */
  readonly enforce: boolean;
  readonly browsers: 'pass' | 'refuse';
  /** Paths that fit no template. */
  readonly otherPaths: 'pass' | 'refuse';
  /** `panel`: apps are refused as `panel` refuses them; else as the next two say. */
  readonly refusedAs: 'own' | 'panel';
  /** The HTTP status of a refusal. */
  readonly refusedStatus: number;
  /** True if an app gets a refusal as a subscription whose one server is named with the reason. */
  readonly placeholder: boolean;
  /** The longest silence of the panel, before its answer and within it, ms. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  /** Requests in flight at a time. */
  readonly requestsMax: number;
  /** The `Host` of requests to the panel. */
  readonly hostHeader: 'original' | 'upstream';
  /** What stays of two announcements, that of a message and that of the panel. */
  readonly announce: AnnounceMode;
}

/** Settings that are read for each request, so that a change applies at once. */
export interface UpstreamSettings extends TextSettings {
  /** A new array after each change. */
  readonly gateUpstreams: readonly Upstream[];
}
