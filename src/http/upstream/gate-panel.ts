/** The panel behind the proxies that call `/gate`. */

import { knowsUsersOf, panelOf } from '../../core/panel/kind.ts';
import type { GateSettings } from '../gate/gate.ts';
import type { GatePanel } from '../gate/gate-panel.ts';
import type { PanelSource } from './panel-api.ts';
import type { PanelFollowers } from './panel-followers.ts';

type Settings = Pick<
  GateSettings,
  'gateKey' | 'gatePanel' | 'gatePanelUrl' | 'gatePanelTokenFile' | 'gatePanelHeadersFile'
>;

/** Returns the API of that panel; null: the settings name none for its keys. */
export function gateSource(settings: Settings): PanelSource | null {
  const { gateKey: key, gatePanelTokenFile: tokenFile, gatePanelUrl: url } = settings;
  const headersFile = settings.gatePanelHeadersFile;
  const panel = panelOf({ panel: settings.gatePanel, key });
  if (panel === null || tokenFile === '' || url === '' || !knowsUsersOf(panel, key)) return null;
  return { host: '', panel, url, tokenFile, headersFile };
}

export function gatePanel(settings: Settings, { entry, users }: PanelFollowers): GatePanel {
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
  };
}
