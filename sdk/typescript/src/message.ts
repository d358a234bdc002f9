/** A message of the provider, and its texts in the language of a device. */

export interface Message {
  /** The id: the same in every copy, and in acknowledgements. */
  id: number;
  /** 10: a notification; 20: a command. */
  notification_type: number;
  created_at: string;
  expires_at: string;
  payload: Readonly<Record<string, unknown>>;
  /** True: the payload is too large for a frame, and is fetched by the id. */
  stub?: boolean;
}

export interface Texts {
  /** Plain text; empty: none. */
  title: string;
  /** HTML that the server filtered; empty: none. */
  html: string;
  /** The body as plain text with line breaks. */
  plain: string;
  /** The link that a tap opens; empty: none. */
  link: string;
}

export const NOTIFICATION = 10;
export const COMMAND = 20;

const ACTIONS: ReadonlySet<unknown> = new Set([
  ...['import-data', 'update-subscription', 'set-settings', 'sub-change'],
]);

/** Reads the message in a push; FCM sends it as text. Returns null if there is none. */
export function messageIn(value: unknown): Message | null {
  try {
    const message = typeof value === 'string' ? JSON.parse(value) : value;
    return typeof message?.id === 'number' && typeof message.payload === 'object' ? message : null;
  } catch {
    return null;
  }
}

/** Returns the action of a command; empty for a notification. */
export const actionOf = ({ payload }: Message): string => textIn(payload, 'action_type');

/** Returns why a message cannot be handled; null: it can be. */
export function unknownIn(message: Message): string | null {
  const { notification_type: type } = message;
  if (type === NOTIFICATION) return null;
  if (type !== COMMAND) return `unknown notification_type ${type}`;
  const action = actionOf(message);
  return ACTIONS.has(action) ? null : `unknown action_type ${action}`;
}

/** Returns the texts for a locale (`pt-BR`), else for its language, else the general ones. */
export function textsOf({ payload }: Message, locale: string): Texts {
  const own = localeIn(payload['locales'], locale);
  const of = (name: string, ownName = name) => textIn(own, ownName) || textIn(payload, name);
  const html = of('body');
  return {
    title: of('title'),
    html,
    plain: plainText(html),
    link: of('link_for_open', 'link-for-open'),
  };
}

function localeIn(locales: unknown, locale: string): Readonly<Record<string, unknown>> {
  if (typeof locales !== 'object' || locales === null) return {};
  const all = Object.entries(locales).map(([key, texts]) => [tidyTag(key), texts] as const);
  const wanted = tidyTag(locale);
  const language = languageOf(wanted);
  const found =
    all.find(([tag]) => tag === wanted) ??
    all.find(([tag]) => tag === language) ??
    all.find(([tag]) => languageOf(tag) === language);
  return typeof found?.[1] === 'object' && found[1] !== null ? found[1] : {};
}

/** Providers write `CN` for Chinese. */
function tidyTag(tag: string): string {
  const tidy = tag.trim().toLowerCase().replaceAll('_', '-');
  return tidy === 'cn' ? 'zh-cn' : tidy;
}

const languageOf = (tag: string): string => tag.split('-', 1)[0] ?? '';

function textIn(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name];
  return typeof value === 'string' ? value : '';
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/**
 * Returns filtered HTML as plain text: blocks and `<br>` become line breaks, tags are removed,
 * entities decoded.
 */
export function plainText(html: string): string {
  return html
    .replace(/\s+/g, ' ')
    .replace(/<br ?\/?>|<\/(?:p|div|li|h[1-6]|tr|blockquote|pre)>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{1,6}));/gi, (all, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0x10ffff ? all : String.fromCodePoint(code);
    })
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
