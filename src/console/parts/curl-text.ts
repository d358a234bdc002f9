/** A call of the public API as a shell command. */

export interface ApiCall {
  /** The path, such as `/api/add-install`. */
  path: string;
  /**
   * Parameters without the credentials. Null is omitted; an empty text is sent: it clears a note.
   */
  params?: Readonly<Record<string, string | number | null>>;
  /** Names of shell variables that hold secrets, by parameter. */
  secrets?: Readonly<Record<string, string>>;
  /** The body of a POST. */
  body?: unknown;
}

/** Within single quotes only a single quote has a meaning. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns the command. The key comes from the shell variable GATEPOST_KEY. */
export function curlText(
  origin: string,
  code: string,
  { path, params = {}, secrets = {}, body }: ApiCall,
): string {
  const given = Object.entries({ provider_code: code, ...params }).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as [string, string]],
  );
  if (body === undefined) {
    const words = given.map((pair) => `--data-urlencode ${quoted(pair.join('='))}`);
    const all = Object.entries({ ...secrets, auth_key: 'GATEPOST_KEY' });
    const hidden = all.map(([name, variable]) => `--data-urlencode "${name}=$${variable}"`);
    return ['curl -G', quoted(origin + path), ...words, ...hidden].join(' ');
  }
  const query = new URLSearchParams(given);
  const address = `${quoted(`${origin}${path}?${query}&auth_key=`)}"$GATEPOST_KEY"`;
  const type = quoted('content-type: application/json');
  return `curl ${address} -H ${type} --data-raw ${quoted(JSON.stringify(body))}`;
}
