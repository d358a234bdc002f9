/** A client of the API of a panel. */

export type Call = <T = unknown>(method: string, path: string, body?: unknown) => Promise<T>;

/** Returns a client whose calls throw for any answer but a 2xx. */
export function clientOf(base: string, headers: Record<string, string>): Call {
  return async <T = unknown>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(base + path, {
      method,
      keepalive: false,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  };
}
