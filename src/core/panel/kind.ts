/** The panels that Gatepost knows by name. */

export const PANELS = ['remnawave', '3x-ui', 'pasarguard', 'marzban', 'hiddify'] as const;
export type PanelKind = (typeof PANELS)[number];

const isPanel = (name: string): name is PanelKind => (PANELS as readonly string[]).includes(name);

/** Returns the panel that settings name: by `panel`, or by the form of its keys; null: none. */
export function panelOf({ panel, key }: { panel: string; key: string }): PanelKind | null {
  if (isPanel(panel)) return panel;
  return isPanel(key) ? key : null;
}

/** The panels whose subscriptions have signed tokens: their APIs know users, not tokens. */
const SIGNING: readonly PanelKind[] = ['marzban', 'pasarguard'];

/** Returns whether the API of a panel knows the users of a kind of key. */
export const knowsUsersOf = (panel: PanelKind, key: string): boolean =>
  key === panel || (key === 'plain' && !SIGNING.includes(panel));
