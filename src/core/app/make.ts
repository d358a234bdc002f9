/** Makes rows of the table of apps, and their parts. */

import type { AddingForm, AddingLink, App, AppHeader, AppRefusal, PanelMove } from './record.ts';

type HeaderRow = Omit<AppHeader, 'header' | 'needsProviderId' | 'isHttpsAlone'> &
  Partial<Pick<AppHeader, 'needsProviderId' | 'isHttpsAlone'>>;

const header = (name: string, row: HeaderRow): AppHeader => ({
  needsProviderId: false,
  isHttpsAlone: false,
  ...row,
  header: name,
});

/** The text of a notification. */
export const announce = (source: string): AppHeader =>
  header('announce', { part: 'message', effect: 'text beside the servers', source });

export const linkOnText = (source: string, isHttpsAlone = false): AppHeader =>
  header('announce-url', { part: 'message', effect: 'link on the text', source, isHttpsAlone });

/**
 * The box of Happ, which stays until a new value replaces it. The document does not mention texts
 * outside ASCII: they go as `base64:`, which it has for `announce` and several panels send.
 */
export const infoBox = (name: string, effect: string, source: string): AppHeader =>
  header(name, { part: 'message', effect, needsProviderId: true, source });

export const newDomain = (
  source: string,
  name = 'new-domain',
  needsProviderId = false,
): AppHeader =>
  header(name, {
    part: 'domain',
    effect: 'replaces the domain of the subscription',
    needsProviderId,
    source,
  });

export const newUrl = (source: string, needsProviderId = false): AppHeader =>
  header('new-url', {
    part: 'url',
    effect: 'replaces the URL of the subscription',
    needsProviderId,
    source,
  });

export const fallback = (name: string, source: string): PanelMove => ({
  header: name,
  effect: 'after HTTP 300 to 599',
  source,
});

export const adds = (name: string, scheme: string, form: AddingForm): AddingLink => ({
  name,
  scheme,
  form,
});
export const installs = (name: string): AddingLink =>
  adds(name, `${name}://install-config?url=`, 'value');

/** The most characters of an announcement in most apps, and the bound for unknown ones. */
export const TEXT_LENGTH_MAX = 200;

/** The headers of a message that every app gets which no source describes. */
export const UNKNOWN_READS: readonly AppHeader[] = [announce('what most apps of this field read')];

export const NAME_OF_SERVER = "the server's name";
export const NOT_KNOWN = 'not known';
export const CLOSED: AppRefusal = { status: NOT_KNOWN, placeholder: NOT_KNOWN, notice: null };

/** An app that shows the name of a placeholder's server. */
export const names = (status: string): AppRefusal => ({
  status,
  placeholder: NAME_OF_SERVER,
  notice: null,
});

/** The usual columns of a row. */
const USUAL = {
  agentHas: null,
  isKnown: true,
  reads: [],
  textLengthMax: TEXT_LENGTH_MAX,
  keepsText: false,
  takesBack: 'absent',
  buttons: [],
  panelMoves: [],
  passes: [],
  hwid: 'never',
  system: null,
  systemInAgent: null,
  format: null,
  adding: [],
} as const;

type Row = Omit<App, keyof typeof USUAL> & Partial<App>;
export const row = (columns: Row): App => ({ ...USUAL, ...columns });
