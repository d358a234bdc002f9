/** The APIs of panels, as the settings name them. */

import { knowsUsersOf, type PanelKind, panelOf } from '../../core/panel/kind.ts';
import type { Upstream } from './settings.ts';

/** The API of a panel, as the settings name it. */
export interface PanelSource {
  /** The host of the upstream; empty: the panel behind `/gate`. */
  readonly host: string;
  readonly panel: PanelKind;
  readonly url: string;
  readonly tokenFile: string;
  /** The file with an account, in place of a token; empty: none. */
  readonly accountFile: string;
  /** The file with further headers; empty: none. */
  readonly headersFile: string;
  /** The admin, group or squad whose users alone are read; absent: all users are. */
  readonly panelAdmin?: string;
}

/** Returns whether figures of subscriptions are read from the API of an upstream's panel. */
export const readsFigures = ({ limits, read }: Pick<Upstream, 'limits' | 'read'>): boolean =>
  limits === 'panel' || read === 'panel';

/** Upstreams are never changed: each fetch asks for the source of one. */
const known = new WeakMap<Upstream, PanelSource | null>();

/** Returns the API of the panel of an upstream; null: the settings name none for its keys. */
export function sourceOf(upstream: Upstream): PanelSource | null {
  const before = known.get(upstream);
  if (before !== undefined) return before;
  const source = readSource(upstream);
  known.set(upstream, source);
  return source;
}

function readSource(upstream: Upstream): PanelSource | null {
  const { host, key, panelTokenFile: tokenFile, panelUrl, url } = upstream;
  const { panelAccountFile: accountFile, panelHeadersFile: headersFile } = upstream;
  const panel = panelOf(upstream);
  if (panel === null || !knowsUsersOf(panel, key)) return null;
  if (tokenFile === '' && accountFile === '') return null;
  const { panelAdmin } = upstream;
  return { host, panel, url: panelUrl || url, tokenFile, accountFile, headersFile, panelAdmin };
}
