/**
 * Returns whether a client takes a content coding (RFC 9110, section 12.5.3). A client without the
 * header takes none: apps that cannot decode send none.
 *
 * @example acceptsCoding('br, gzip;q=0', 'gzip') // false
 */
export function acceptsCoding(accepted: string | null, coding: string): boolean {
  const taken = new Map<string, boolean>();
  for (const item of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    taken.set(name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)));
  }
  return taken.get(coding) ?? taken.get('*') ?? false;
}
