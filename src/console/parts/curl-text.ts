/** A call of the public API as a command of the shell. */

export interface ApiCall {
  /** `/api/add-install`. */
  path: string;
  /** Without the credentials; null is left out, an empty text is not: it clears a note. */
  params?: Readonly<Record<string, string | number | null>>;
  /** Secrets, by the variables of the shell that have them. */
  secrets?: Readonly<Record<string, string>>;
  /** Of a POST. */
  body?: unknown;
}

/** Within single quotes only a single quote has a meaning. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns the command; the key is the variable GATEPOST_KEY of the shell. */
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
