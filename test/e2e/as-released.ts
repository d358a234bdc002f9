/**
 * Compares every answer of the public contract with that of a released executable: bodies byte for
 * byte, and the headers that belong to them, over thousands of calls with documented parameters.
 *
 *   bun test/e2e/as-released.ts EXECUTABLE [CALLS] [SEED]
 *
 * Run by hand, before a release. What only the clock or chance decides is masked: times, drawn
 * codes, IDs of faults. `/provider` says more than it did before 0.5.0: its `status` is left out.
 */

import { call, type Reply } from '../support/app.ts';
import { cleanUp, run, type ServerProcess, startServe } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';

const [executable, countWord = '6000', seedWord = '1'] = process.argv.slice(2);
if (executable === undefined) throw new Error('which executable?');

const PROVIDERS = ['Provide1', 'Provide2', 'Provide3'].map((code, at) => ({
  code,
  authKey: `key-of-provider-${at}`.padEnd(32, '_'),
}));
const WRONG = { code: 'Provide1', authKey: 'x'.repeat(32) };
const PLANS = ['enterprise', 'pro', 'basic'];
const CODES = ['LinkCode0001', 'LinkCode0002', 'LinkCode0003', 'LinkCode0004', 'LinkCode0005'];
const HASHES = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
const HWIDS = Array.from({ length: 8 }, (_, at) => `hwid-${at}`);
const IDS = ['', '0', '1', '2', '3', '4', '5', '6', '7', '99', '-1', '1.0', 'x'];
const NOTES = ['', 'note', 'Привет, +1 & 100%', 'a\nb', 'н'.repeat(255), 'н'.repeat(256)];
const OS = ['ios', 'Android', 'ipados', 'Windows', ''];

/** Values of the documented parameters, the odd ones too. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  install_limit: ['1', '2', '3', '100', '0', '101', '1e1', ''],
  install_code: [...CODES, ...CODES, '', 'short'],
  installid: [...CODES, ...CODES, ...CODES, '', 'short', 'Unknown00000'],
  install_id: IDS,
  before_id: IDS,
  note: NOTES,
  domain_name: NOTES,
  status: ['5', '10', '10', '', '1'],
  hwid: [...HWIDS, ...HWIDS, '', 'a,b'],
  domain_hash: [...HASHES, ...HASHES, '', 'A'.repeat(64)],
  os_name: OS,
  device_model: ['', 'Pixel 9', 'я'.repeat(200)],
  // Unknown ones are ignored.
  unknown: ['1'],
};

const LISTS = { '/api/list-install': 'id before_id', '/api/list-domain': 'id before_id' };
/** Paths with their documented parameters. */
const CALLS: Readonly<Record<string, string>> = {
  '/api/add-install': 'install_limit install_code note',
  '/api/update-install': 'id install_limit note status',
  ...LISTS,
  '/api/list-hwid': 'install_code install_id hwid',
  '/api/delete-hwid': 'install_code install_id hwid',
  '/api/add-domain': 'domain_hash domain_name',
  '/api/delete-domain': 'id',
  '/install': 'id installid hwid os_name device_model',
  '/provider': 'id domain_hash hwid os_name device_model',
  '/remote/list': 'id before_id',
  '/remote/cancel': 'id',
  '/remote/notification': '',
  '/remote/command': '',
  '/api/nothing': '',
};
/** Devices come more often, so that links fill. */
const PATHS = [...Object.keys(CALLS), '/install', '/install', '/install', '/api/list-hwid'];

interface Asked {
  path: string;
  by: { code: string; authKey: string } | null;
  query: Record<string, string>;
  init: RequestInit;
}

function nextCall(random: Random): Asked {
  const path = random.pick(PATHS);
  const isForApps = path === '/install' || path === '/provider';
  const query: Record<string, string> = {};
  for (const name of `${CALLS[path]} unknown`.split(' ')) {
    if (name === '' || random.chance(isForApps ? 0.05 : 0.35)) continue;
    const ids = { '/install': HASHES, '/provider': PROVIDERS.map(({ code }) => code) }[path] ?? IDS;
    query[name] = random.pick(name === 'id' ? ids : (VALUES[name] ?? ['1']));
  }
  const own = random.pick([...PROVIDERS, PROVIDERS[0], PROVIDERS[0]]) ?? WRONG;
  const by = isForApps ? null : random.chance(0.03) ? WRONG : own;
  return { path, by, query, init: path.includes('tion') || path.includes('command') ? post() : {} };

  function post(): RequestInit {
    const hwid = random.pick(['', random.pick(HWIDS), `${HWIDS[0]}, ${HWIDS[1]}`, 'nobody']);
    const form = { body: random.pick(['Hi <b>x</b>', '', 'x'.repeat(4_000)]), type_push: 'force' };
    const bodies: unknown[] = [
      {
        PushNotificationForm: { ...form, expire_days: random.pick([1, 365, 0]) },
        os: ['ios'],
        hwid,
      },
      { action_type: 'import-data', import_data: random.pick(['vless://x', '']), hwid },
      {
        action_type: 'update-subscription',
        specific_device_toggle: hwid !== '',
        os: ['ios'],
        hwid,
      },
      { action_type: 'set-settings', settings: { 'ping-type': random.pick(['tcp', 'x']) }, hwid },
      { action_type: 'sub-change', change_type: 'url', change_value: 'https://a.example', hwid },
      'no JSON',
    ];
    const body = random.pick(bodies);
    return { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) };
  }
}

/** An answer as it is compared. */
function shown(path: string, { status, headers, text }: Reply): string {
  const kept = ['content-type', 'cache-control', 'x-error-detail'];
  const own = [...headers].filter(([name]) => kept.includes(name) || name.startsWith('x-hwid'));
  const body = text
    .replaceAll(/"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"/g, '"(time)"')
    .replaceAll(/"install_code":"([^"]*)"/g, (whole, code) =>
      CODES.includes(code) ? whole : '"install_code":"(drawn)"',
    );
  const same = path === '/provider' ? body.replace(/,"status":"\w+"/, '') : body;
  return `${status} ${JSON.stringify(own.toSorted())} ${same}`;
}

/** Waits for what a send sets in motion, which a list would show at any stage. */
async function answerOf(server: ServerProcess, asked: Asked): Promise<string> {
  const { path, by, query, init } = asked;
  const reply = await call(server, path, by, query, init);
  if (init.method === 'POST' && reply.json?.rc === 1) {
    await until('everything is delivered', async () => {
      const { json } = await call(server, '/remote/list', by, { id: reply.json.id });
      return json.data[0].status >= 100;
    });
  }
  return shown(path, reply);
}

async function open(from: string | undefined): Promise<ServerProcess> {
  const options = from === undefined ? {} : { executable: from };
  const env = { GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000' };
  const server = await startServe({ ...options, env });
  for (const [at, { code, authKey }] of PROVIDERS.entries()) {
    const words = ['provider', 'add', '--name', code, '--code', code, '--key', authKey];
    const more = ['--plan', PLANS[at] ?? 'basic', '--data', server.dataDir];
    const added = await run([...words, ...more], options);
    if (added.code !== 0) throw new Error(added.stderr);
  }
  return server;
}

try {
  const [released, built] = [await open(executable), await open(undefined)];
  const random = new Random(Number(seedWord));
  const kinds = new Map<string, number>();
  let differences = 0;
  for (let count = Number(countWord); count > 0; count--) {
    const { path, by, query, init } = nextCall(random);
    const [before, now] = await Promise.all(
      [released, built].map((server) => answerOf(server, { path, by, query, init })),
    );
    const kind = `${path} ${/"msg":"([^"]*)"/.exec(before ?? '')?.[1]}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (before === now) continue;
    differences += 1;
    if (differences <= 10) console.log(`${path} ${JSON.stringify(query)}\n- ${before}\n+ ${now}`);
  }
  for (const [kind, count] of [...kinds].toSorted()) console.log(`${count} ${kind}`);
  console.log(`${countWord} calls, ${kinds.size} kinds of answers, ${differences} differ`);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  await cleanUp();
}
