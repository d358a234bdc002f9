/** The panel behind the proxies that call `/gate`. */

import { knowsUsersOf, panelOf } from '../../core/panel/kind.ts';
import type { GateSettings } from '../gate/gate.ts';
import type { GatePanel } from '../gate/gate-panel.ts';
import type { PanelFollowers } from './panel-followers.ts';
import type { PanelSource } from './panel-source.ts';

export type GateSource = Pick<
  GateSettings,
  | 'gateKey'
  | 'gatePanel'
  | 'gatePanelUrl'
  | 'gatePanelTokenFile'
  | 'gatePanelAccountFile'
  | 'gatePanelHeadersFile'
  | 'gateRead'
>;

/** Returns the API of that panel; null: the settings name none for its keys. */
export function gateSource(settings: GateSource): PanelSource | null {
  const { gateKey: key, gatePanelTokenFile: tokenFile, gatePanelUrl: url } = settings;
  const { gatePanelAccountFile: accountFile, gatePanelHeadersFile: headersFile } = settings;
  const panel = panelOf({ panel: settings.gatePanel, key });
  if (panel === null || url === '' || !knowsUsersOf(panel, key)) return null;
  if (tokenFile === '' && accountFile === '') return null;
  return { host: '', panel, url, tokenFile, accountFile, headersFile };
}

export function gatePanel(
  settings: GateSource,
  { entry, figures, later, users }: PanelFollowers,
): GatePanel {
  return {
    isAsked: () => gateSource(settings) !== null,
    async admits(providerId, named) {
      const source = gateSource(settings);
      return source === null || entry.admits(source, providerId, named);
    },
    async comesBack(providerId, key) {
      const source = gateSource(settings);
      return source !== null && users.comesBack(source, providerId, key);
    },
    readLater(link, { key, token }) {
      if (settings.gateRead !== 'panel' || !figures.isDue(link)) return;
      const source = gateSource(settings);
      // Behind `/gate` a token was compared with the panel's secret.
      const of = { link, key, isProven: token !== undefined };
      if (source !== null) later(() => figures.read(source, of));
    },
  };
}
