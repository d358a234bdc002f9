/** The URLs that a message may have. */

/**
 * Denied schemes, which do not name a page or a place in an app. Shops (`market`, `itms-apps`),
 * calls (`tel`) and mail (`mailto`) are allowed, as they ask before they act.
 */
const DENIED_SCHEMES: ReadonlySet<string> = new Set([
  // Code that runs in the app.
  ...['javascript', 'vbscript', 'livescript', 'mocha'],
  // Documents of the sender.
  ...['data', 'blob', 'mhtml'],
  // Files and parts of programs on the device.
  ...['file', 'filesystem', 'content', 'res', 'resource'],
  // Wrappers around one of these.
  ...['view-source', 'jar', 'ms-its', 'mk'],
  // Pages of the browser itself.
  ...['about', 'chrome', 'chrome-extension', 'moz-extension'],
  // Commands to the system: activities of apps, installations, programs.
  ...['intent', 'android-app', 'itms-services'],
  ...['ms-appinstaller', 'ms-msdt', 'ms-officecmd', 'search-ms', 'shell'],
]);

/** The older spelling of an intent, which Android reads after any scheme but http and https. */
const INTENT = /#intent;/i;

/** RFC 3986 section 3.1; one letter alone is a Windows drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):(.+)$/i;

/** Characters on which URL parsers disagree. */
const BLANK_CONTROL_OR_BACKSLASH = /[\s\p{Cc}\\]/u;

/** Returns true for an absolute `http` or `https` URL, also an international one. */
export function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && isUrl(value);
}

/**
 * Returns true for a URL of the web, or a deep link into an app such as `tg:` or `happ:`.
 *
 * @example isUrlToOpen('happ://add/x') // true
 */
export function isUrlToOpen(value: string): boolean {
  const [, scheme = '', rest = ''] = SCHEME.exec(value) ?? [];
  if (/^https?$/i.test(scheme)) return isWebUrl(value);
  // `example.com:8443/pay` lacks its scheme.
  const isHostAndPort = scheme.includes('.') && /^\d+([/?#]|$)/.test(rest);
  if (scheme === '' || isHostAndPort || DENIED_SCHEMES.has(scheme.toLowerCase())) return false;
  return !INTENT.test(rest) && isUrl(value);
}

/** Most characters of a URL: a hundred thousand labels take URL parsers a tenth of a second. */
export const URL_LENGTH_MAX = 8192;

function isUrl(value: string): boolean {
  if (value.length > URL_LENGTH_MAX) return false;
  return !BLANK_CONTROL_OR_BACKSLASH.test(value) && value.isWellFormed() && URL.canParse(value);
}
