/** The record of an app: a row of the table of apps. */

/** A header that an app reads, and the part of a message that it carries. */
export interface AppHeader {
  readonly header: string;
  readonly part: 'message' | 'domain' | 'url';
  /** The value in words, and its effect in the app. */
  readonly effect: string;
  readonly needsProviderId: boolean;
  /** True: the app ignores a link that is not `https`. */
  readonly isHttpsAlone: boolean;
  readonly source: string;
}

/** A header by which a panel sends the app elsewhere; no message has it. */
export interface PanelMove {
  readonly header: string;
  readonly effect: string;
  readonly source: string;
}

/** How a link for adding a subscription holds the address: see `finalLink`. */
export type AddingForm = 'fragment' | 'query' | 'value' | 'profile' | 'base64';

/** A link that adds a subscription. */
export interface AddingLink {
  /** The name of the form, for `link qr --app` and the API. */
  readonly name: string;
  readonly scheme: string;
  readonly form: AddingForm;
}

/**
 * When the app sends `x-hwid`.
 *
 * | `hwid` | |
 * |---|---|
 * | `default` | unless its user turns it off |
 * | `switch` | once its user turns it on |
 * | `sends` | it does; whether by default is not known |
 * | `never` | |
 * | `unknown` | |
 */
export type AppHwid = 'default' | 'switch' | 'sends' | 'never' | 'unknown';

/** The effect of a refusal in an app, in words for the documents. */
export interface AppRefusal {
  /** Of a 403 or 404. */
  readonly status: string;
  /** Of a 200 whose only server is the reason. */
  readonly placeholder: string;
  /** The header with the text of its notice, besides `announce`; null: none. */
  readonly notice: string | null;
}

export interface App {
  readonly name: string;
  /** The first characters of its `User-Agent`, in lower case. */
  readonly agents: readonly string[];
  /** Further characters in the `User-Agent`, in lower case; null: none. */
  readonly agentHas: string | null;
  /** False: no source says what it shows. It gets what unknown apps get. */
  readonly isKnown: boolean;
  readonly reads: readonly AppHeader[];
  /** The most characters of a text that it shows. */
  readonly textLengthMax: number;
  /** True: an answer without `announce` does not take the text away. */
  readonly keepsText: boolean;
  /** How the app resets a setting: by an empty header, or by an answer without the header. */
  readonly takesBack: 'empty' | 'absent';
  /** The buttons that the app shows: `support-url`, `profile-web-page-url`. */
  readonly buttons: readonly string[];
  readonly panelMoves: readonly PanelMove[];
  /** Other headers of the panel that it reads and Gatepost passes on unchanged. */
  readonly passes: readonly string[];
  readonly hwid: AppHwid;
  /** The family of its system, if no header names it; `desktop` is one of three. */
  readonly system: 'android' | 'desktop' | null;
  /** Finds the name of the system in the `User-Agent` of such an app; null: it has none there. */
  readonly systemInAgent: RegExp | null;
  readonly refusal: AppRefusal;
  /** The format of a subscription that it reads; null: links. */
  readonly format: 'clash' | 'singBox' | null;
  readonly adding: readonly AddingLink[];
  /** The source of what no header of `reads` names. */
  readonly source: string;
  /** The day of the reading. */
  readonly readOn: string;
}
