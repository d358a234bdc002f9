/** The panels that Gatepost knows by name, and the forms of their keys. */

import { PANEL_TRAITS } from './index.ts';
import type { SignedForm } from './key-form.ts';

export type PanelKind = keyof typeof PANEL_TRAITS;
export const PANELS = Object.keys(PANEL_TRAITS) as readonly PanelKind[];

/** The form of the segment of a key: the key itself, or that of a panel. */
export type PanelKey = 'plain' | PanelKind;

const isPanel = (name: string): name is PanelKind => Object.hasOwn(PANEL_TRAITS, name);

/** Those that settings may choose. */
export const PANEL_KEYS: readonly PanelKey[] = [
  'plain',
  ...PANELS.filter((panel) => PANEL_TRAITS[panel].keys !== 'plain'),
];

/** Returns the form of the tokens that a panel signs; null: it signs none. */
export function signedForm(key: PanelKey): SignedForm | null {
  const form = key === 'plain' ? key : PANEL_TRAITS[key].keys;
  return typeof form === 'string' ? null : form;
}

/** The forms of all panels that sign the user into each token. */
export const SIGNED_FORMS = PANELS.map(signedForm)
  .filter((form) => form !== null)
  .toSorted((a, b) => (a.rule < b.rule ? -1 : 1));

/** Returns true for a panel that signs the user into each token. */
export const signs = (key: PanelKey): boolean => signedForm(key) !== null;

/** Returns the names for people of the panels that fit: `Marzban and PasarGuard`. */
export const titlesOf = (fits: (panel: PanelKind) => boolean): string =>
  listed(
    PANELS.filter(fits).map((panel) => PANEL_TRAITS[panel].title),
    'and',
  );

/** Returns words in alphabetical order as a text: `one, two and three`. */
export function listed(words: readonly string[], conjunction: 'and' | 'or'): string {
  const sorted = words.toSorted();
  const last = sorted.pop() ?? '';
  return sorted.length === 0 ? last : `${sorted.join(', ')} ${conjunction} ${last}`;
}

/** Returns whether the API of a panel gives tokens for a name and a password. */
export const signsIn = (panel: PanelKind): boolean => PANEL_TRAITS[panel].api.signIn !== null;

/** Returns the panel that settings name: by `panel`, or by the form of its keys; null: none. */
export function panelOf({ panel, key }: { panel: string; key: string }): PanelKind | null {
  if (isPanel(panel)) return panel;
  return isPanel(key) ? key : null;
}

/** Returns whether the API of a panel knows the users of a kind of key: of tokens only its own. */
export const knowsUsersOf = (panel: PanelKind, key: string): boolean =>
  key === panel || (key === 'plain' && !signs(panel));
