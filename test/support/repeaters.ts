/** HTTP libraries that repeat a call by themselves when its answer is lost. */

/** A call: GET, or POST of a JSON text. */
export interface Repeatable {
  url: string;
  body: string | null;
}

export interface Repeater {
  /** Returns the body of the answer in the end. */
  ask(call: Repeatable): Promise<string>;
  stop(): void;
}

const HEADERS = { 'content-type': 'application/json' };
const nothing = () => undefined;

/** Imports a package that a checkout may not have yet. */
// biome-ignore lint/suspicious/noExplicitAny: libraries of others, each with types of its own.
const imported = (name: string): Promise<any> => import(name).catch(() => null);

/** Python's requests, as its documentation sets retries up; a call is a line. */
const PYTHON = `
import json, sys, requests
from requests.adapters import HTTPAdapter, Retry
session = requests.Session()
session.mount('http://', HTTPAdapter(max_retries=Retry(total=3, allowed_methods=None)))
for line in sys.stdin:
    url, body = json.loads(line)
    answer = session.get(url) if body is None else session.post(url, data=body.encode())
    print(json.dumps(answer.text), flush=True)
`;

async function startPython(): Promise<Repeater | null> {
  const hasRequests = (path: string) =>
    Bun.which(path) !== null && Bun.spawnSync([path, '-c', 'import requests']).exitCode === 0;
  const python = ['python3', '/usr/bin/python3'].find(hasRequests);
  if (python === undefined) return null;
  const env = { PATH: process.env['PATH'] ?? '' };
  const process_ = Bun.spawn([python, '-c', PYTHON], { stdin: 'pipe', stdout: 'pipe', env });
  const lines = process_.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  return {
    async ask({ url, body }) {
      process_.stdin.write(`${JSON.stringify([url, body])}\n`);
      process_.stdin.flush();
      while (!rest.includes('\n')) {
        const { value, done } = await lines.read();
        if (done) throw new Error('python has ended');
        rest += value;
      }
      const [line = '', ...others] = rest.split('\n');
      rest = others.join('\n');
      return JSON.parse(line);
    },
    stop: () => process_.kill(),
  };
}

async function startGot(): Promise<Repeater | null> {
  const got = (await imported('got'))?.default;
  if (!got) return null;
  const methods = ['GET', 'POST'];
  // It repeats no POST unless it is told to; without the pause of a second.
  const retry = {
    limit: 3,
    methods,
    calculateDelay: (of: { computedValue: number }) => Math.min(of.computedValue, 1),
  };
  return {
    ask: ({ url, body }) =>
      body === null
        ? got(url, { retry }).text()
        : got.post(url, { retry, body, headers: HEADERS }).text(),
    stop: nothing,
  };
}

async function startAxios(): Promise<Repeater | null> {
  const [axios, axiosRetry] = [await imported('axios'), await imported('axios-retry')];
  if (!axios || !axiosRetry) return null;
  const client = axios.default.create({
    responseType: 'text',
    transformResponse: (text: string) => text,
  });
  axiosRetry.default(client, { retries: 3 });
  return {
    ask: async ({ url, body }) =>
      (body === null ? await client.get(url) : await client.post(url, body, { headers: HEADERS }))
        .data,
    stop: nothing,
  };
}

/** Each library, or null where it is not installed. */
export const REPEATERS: Readonly<Record<string, () => Promise<Repeater | null>>> = {
  got: startGot,
  'axios-retry': startAxios,
  'Python requests': startPython,
};
