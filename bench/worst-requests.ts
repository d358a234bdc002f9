/** The worst single request of each endpoint that is known, in all the ways that it can be bad. */

/** Names that requests use; `worst.ts` adds them to the database. */
export interface Place {
  /** `provider_code=…&auth_key=…` */
  who: string;
  /** A link with 100 devices, and the hash that lets them in. */
  code: string;
  hash: string;
  token: string;
}

export interface WorstRequest {
  endpoint: string;
  what: string;
  path: string;
  init: RequestInit;
}

/** The largest body that is read, bytes, and the longest target. */
const BODY = 256 * 1024;
const TARGET = 15_900;
const HTML = 16_300;

/** `unit` again and again, as often as it fits. */
function full(unit: string, length: number): string {
  return unit.repeat(Math.floor(length / unit.length));
}

const countdown = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Three letters for each number: locales. */
function locales(count: number, value: unknown): Record<string, unknown> {
  const letter = (n: number) => String.fromCharCode(97 + (n % 26));
  return Object.fromEntries(
    countdown(count).map((n) => [letter(n) + letter(n / 26) + letter(n / 676), value]),
  );
}

/** Collects requests as they are said in words. */
class Collection {
  readonly requests: WorstRequest[] = [];

  constructor(readonly place: Place) {}

  get(path: string, what: string, query: string, headers: Record<string, string> = {}): void {
    this.requests.push({ endpoint: path, what, path: `${path}?${query}`, init: { headers } });
  }

  post(path: string, what: string, body: unknown): void {
    const { who, token } = this.place;
    const init = {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { authorization: `Bearer ${token}` },
    };
    this.requests.push({ endpoint: path, what, path: `${path}?${who}`, init });
  }
}

export function worstRequests(place: Place): WorstRequest[] {
  const all = new Collection(place);
  addQueries(all);
  addCallsOfApps(all);
  addQuestions(all);
  addBodiesOfDevices(all);
  addNotifications(all);
  addCommands(all);
  return all.requests;
}

function addQueries(all: Collection): void {
  const { who, code, hash } = all.place;
  for (const path of ['/api/list-install', '/api/list-hwid', '/api/list-domain', '/remote/list']) {
    all.get(path, 'all that may be listed at once', who);
  }
  all.get('/api/list-hwid', 'a full link', `${who}&install_code=${code}`);
  all.get('/api/list-hwid', 'a full link, in detail', `${who}&install_code=${code}&details=1`);
  all.get('/api/stats', 'two years', `${who}&days=731`);
  all.get('/api/list-install', '16 KB of %&', full('%&', TARGET));
  all.get('/api/list-install', '16 KB of %E4%', `a=${full('%E4%', TARGET)}`);
  all.get(
    '/api/list-install',
    '3,900 names',
    countdown(3_900)
      .map((n) => n.toString(36))
      .join('&'),
  );
  const limit = `${who}&install_limit=1`;
  all.get('/api/add-install', 'a note of 2,500 letters', `${limit}&note=${full('%D1%8F', TARGET)}`);
  all.get('/api/update-install', '16 KB of id', `${who}&id=${full('9', TARGET - 100)}`);
  all.get(
    '/api/delete-hwid',
    '16 KB of hwid',
    `${who}&install_code=${code}&hwid=${full('x', 15_000)}`,
  );
  all.get(
    '/api/add-domain',
    '16 KB of name',
    `${who}&domain_hash=${hash}&domain_name=${full('%', 15_000)}`,
  );
  all.get('/api/delete-domain', '16 KB of id', `${who}&id=${full('9', 15_000)}`);
  all.get('/remote/cancel', '16 KB of id', `${who}&id=${full('9', 15_000)}`);
}

function addCallsOfApps(all: Collection): void {
  const { code, hash, token } = all.place;
  const knock = `id=${hash}&installid=${code}`;
  all.get('/my', 'the page of a link with 100 devices', `link=${code}`);
  all.get('/my', '15 KB of link', `link=${full('x', 15_000)}`);
  all.get('/install', 'a known HWID that says 15 KB', knock, {
    'x-hwid': 'phone-1',
    'x-device-model': full('ÿ ', 14_000),
  });
  all.get('/install', '15 KB of x-device-info', knock, {
    'x-hwid': 'phone-1',
    'x-device-info': full('a;/(', 15_000),
  });
  all.get('/install', '2 KB of x-device-info', knock, {
    'x-hwid': 'phone-1',
    'x-device-info': full('-_=', 2_000),
  });
  all.get('/install', 'a full link', knock, { 'x-hwid': 'one-too-many' });
  all.get('/install', '16 KB of %&', full('%&', TARGET));
  all.get('/provider', '16 KB of hwid', `id=Provider&hwid=${full('x', TARGET)}`);
  all.get('/device/inbox', '16 KB of wait', `wait=${full('0', TARGET)}`, {
    authorization: `Bearer ${token}`,
  });
  all.get('/openapi.json', 'the document', '', { 'accept-encoding': 'identity' });
  all.get('/docs', '15 KB of accept-encoding', '', {
    'accept-encoding': full('gzip;q=0.', 15_000),
  });
  all.requests.push({
    endpoint: '(any)',
    what: '16 KB of slashes',
    path: full('/', TARGET),
    init: {},
  });
}

/** Of proxies at the gate. */
function addQuestions(all: Collection): void {
  const device = { 'x-forwarded-host': 'sub.example.com', 'x-hwid': 'phone-1' };
  const ask = (what: string, uri: string, more: Record<string, string> = {}) =>
    all.get('/gate', what, '', { ...device, 'x-original-uri': uri, ...more });
  ask('4 KB of segments', full('/a', 4_000));
  ask('4 KB of codes', full('/%20', 4_000));
  ask('4 KB of dots', full('/..a', 4_000));
  ask('8 KB of %&', `/sub/none?${full('%&', 8_000)}`);
  ask('a host of 10 KB', '/sub/none', { 'x-forwarded-host': full('a.', 10_000) });
  ask('a host of 300 signs', '/sub/none', { 'x-forwarded-host': full('ÿ', 300) });
  all.get('/gate', '14 KB of ?uri=', full('uri=/&', 14_000), device);
}

function addBodiesOfDevices(all: Collection): void {
  const nested = `${'['.repeat(130_000)}${']'.repeat(130_000)}`;
  const deep = `{"hwid":"x","push":{"gateway":"webpush","token":{"a":${nested}}}}`;
  all.post('/device/register', 'a token 130,000 levels deep', deep);
  all.post('/device/register', '256 KiB of [', '['.repeat(BODY));
  all.post('/device/register', '8 KB of [', '['.repeat(8_000));
  all.post(
    '/device/register',
    '8 KB of names',
    Object.fromEntries(countdown(900).map((n) => [n, 0])),
  );
  all.post('/device/ack', '256 KiB of [', '['.repeat(BODY));
  const items = countdown(100).map((n) => ({
    id: 1e9 + n,
    state: 'opened',
    detail: full('x', 500),
  }));
  all.post('/device/ack', '100 unknown ids', { items });
}

function addNotifications(all: Collection): void {
  const form = (fields: Record<string, unknown>) => ({
    PushNotificationForm: { type_push: 'force', expire_days: 1, ...fields },
    hwid: 'unknown',
  });
  const notify = (what: string, fields: Record<string, unknown>) =>
    all.post('/remote/notification', what, form({ body: 'x', ...fields }));
  all.post('/remote/notification', '256 KiB of [', '['.repeat(BODY));
  all.post(
    '/remote/notification',
    '9,990 names',
    Object.fromEntries(countdown(9_990).map((n) => [`k${n}`, 0])),
  );
  notify('12,000 locales', { locales: locales(12_000, { body: 'x' }) });
  notify('64 locales of HTML', { locales: locales(64, { body: '<b>x</b>'.repeat(15) }) });
  notify('a title of 240 KB', { title: full('я', 120_000) });
  notify('a link of 80,000 labels', { link_for_open: `https://${full('я.', 160_000)}` });
  notify('a link of 240 KB of %', { link_for_open: `https://a/${full('%', 240_000)}` });
  for (const [what, body] of [
    ['512 open tags', '<b>'.repeat(512)],
    ['512 links in HTML', '<a href=https://a>'.repeat(512)],
    ['512 open tags and 480 ends of others', '<b>'.repeat(512) + '</i>'.repeat(480)],
    ['500 tags with three attributes', '<a href=https://a title=b alt=c>'.repeat(500)],
    ['one tag with 4,000 attributes', `<a ${full('b=c ', HTML)}>x`],
    ['16 KB of entities', full('&#1;', HTML)],
    ['16 KB of comments', full('<!--', HTML)],
    ['999 tags of script', '<script>'.repeat(999) + full('</scrip', 8_000)],
    ['16 KB of >', full('>', HTML)],
  ] as const) {
    notify(`HTML: ${what}`, { body });
  }
}

function addCommands(all: Collection): void {
  const command = (what: string, fields: Record<string, unknown>) =>
    all.post('/remote/command', what, {
      action_type: 'update-subscription',
      hwid: 'unknown',
      ...fields,
    });
  const settings = Object.fromEntries(countdown(19_000).map((n) => [`k${n}`, n]));
  command('19,000 settings', { action_type: 'set-settings', settings });
  command('19,000 settings as text', {
    action_type: 'set-settings',
    settings: JSON.stringify(settings),
  });
  command('a setting of 240 KB', {
    action_type: 'set-settings',
    settings: { a: full('\n', 120_000) },
  });
  command('import data of 240 KB', {
    action_type: 'import-data',
    import_data: full('я', 120_000),
  });
  command('os: 80,000 commas', { hwid: '', os: full('ios,', 250_000) });
  command('hwid: 250,000 commas', { hwid: full(',', 250_000) });
  command('an international name of 240 KB', {
    action_type: 'sub-change',
    change_type: 'domain',
    change_value: full('я.', 120_000),
  });
  command('a date of 240 KB', { send_date: full('1', 120_000), send_time: full('1', 120_000) });
}
