/** Addresses that a message may carry to a device. */

/**
 * Schemes that no URL may have, since they do not name a page or a place in an app. A shop
 * (`market`, `itms-apps`), a call (`tel`) or a letter (`mailto`) asks before it does anything.
 */
const DENIED_SCHEMES: ReadonlySet<string> = new Set([
  // Code that runs in the app that opens them, under today's names and older ones.
  ...['javascript', 'vbscript', 'livescript', 'mocha'],
  // Documents that the sender wrote.
  ...['data', 'blob', 'mhtml'],
  // Files and parts of programs on the device.
  ...['file', 'filesystem', 'content', 'res', 'resource'],
  // Wrappers around one of these.
  ...['view-source', 'jar', 'ms-its', 'mk'],
  // Pages of the browser itself.
  ...['about', 'chrome', 'chrome-extension', 'moz-extension'],
  // Orders to the system: any activity of any app, an app from anywhere, a program.
  ...['intent', 'android-app', 'itms-services'],
  ...['ms-appinstaller', 'ms-msdt', 'ms-officecmd', 'search-ms', 'shell'],
]);

/** An intent in its older spelling, which Android reads behind any scheme but the web's. */
const INTENT = /#intent;/i;

/** RFC 3986 section 3.1; one letter alone is a Windows drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):(.+)$/i;

/** URL parsers drop some of these and stop at others, so that two of them can disagree. */
const BLANK_CONTROL_OR_BACKSLASH = /[\s\p{Cc}\\]/u;

/** An absolute `http` or `https` URL, international names and paths included. */
export function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && isUrl(value);
}

/** An absolute `http` or `https` URL, or a deep link into an app such as `tg:` or `happ:`. */
export function isUrlToOpen(value: string): boolean {
  const [, scheme = '', rest = ''] = SCHEME.exec(value) ?? [];
  if (/^https?$/i.test(scheme)) return isWebUrl(value);
  // In `example.com:8443/pay` the scheme was forgotten, although it reads like one.
  const isHostAndPort = scheme.includes('.') && /^\d+([/?#]|$)/.test(rest);
  if (scheme === '' || isHostAndPort || DENIED_SCHEMES.has(scheme.toLowerCase())) return false;
  return !INTENT.test(rest) && isUrl(value);
}

/** A host name of a hundred thousand labels takes URL parsers a tenth of a second. */
export const URL_LENGTH_MAX = 8192;

function isUrl(value: string): boolean {
  if (value.length > URL_LENGTH_MAX) return false;
  return !BLANK_CONTROL_OR_BACKSLASH.test(value) && value.isWellFormed() && URL.canParse(value);
}
