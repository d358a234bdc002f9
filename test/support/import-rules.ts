/** Who may import whom, for test/tidy.test.ts. */

/**
 * Who imports whom. `src/*` stands for the files directly under src. Nouns are in the middle and
 * know no technology; the technologies know the nouns, never each other: a second database or
 * gateway then adds a folder and edits none.
 */
interface Rule {
  /** Files of ours that it may import, by the beginning of their path. */
  ours: readonly string[];
  /** Files of ours of which it may know the types alone. */
  types?: readonly string[];
  /** Packages and built-in modules. */
  packages: readonly string[];
  reason: string;
}

const LEAVES = ['src/base/', 'src/disk/'];

const JSON_READER = ['src/core/json-input.ts', 'src/core/outcome.ts'];

/** Leaves, and what starts this program again. */
const PROGRAM = ['src/parts/own-program.ts', ...LEAVES];

const RULES: Readonly<Record<string, Rule>> = {
  'src/base': {
    ours: ['src/base/', 'package.json'],
    // permissions.ts reads modes of files, clock.ts the time of the start.
    packages: ['node:fs', 'node:path'],
    reason:
      'a leaf may be imported from everywhere, so it imports nothing that imports more of ours',
  },
  'src/core': {
    ours: ['src/core/'],
    // sanitize-html is rules too: text in, text out.
    packages: ['node:crypto', 'sanitize-html'],
    reason: 'the core is rules without I/O: no clock, no log, no database, no HTTP',
  },
  'src/core/account': {
    ours: ['src/core/'],
    // Codes of authenticator apps and proofs of passkeys are rules too: bytes in, a verdict out.
    packages: ['@oslojs/otp', '@simplewebauthn/server', 'node:crypto', 'reflect-metadata'],
    reason: 'the core is rules without I/O: no clock, no log, no database, no HTTP',
  },
  'src/core/port': {
    ours: ['src/core/port/'],
    packages: [],
    reason: 'the port owns the records: a rule that it took would take the port',
  },
  'src/call': {
    ours: ['src/call/', 'src/core/', ...LEAVES],
    packages: ['@sinclair/typebox'],
    reason: 'a call says who may make it, its input and its function of the core: no surface',
  },
  'src/http': {
    ours: [
      ...['src/http/', 'src/call/', 'src/core/', 'src/labels/', 'src/outgoing/slices.ts'],
      ...LEAVES,
    ],
    // node:os: callers.ts. bun:ffi and node:fs: port-handover.ts and close-frame.ts.
    // node:http and node:https: ask.ts has the reason. node:stream and node:zlib: decoder.ts.
    packages: [
      ...['elysia', '@sinclair/typebox', 'node:net', 'node:http', 'node:https'],
      ...['bun:ffi', 'node:fs', 'node:os', 'node:stream', 'node:zlib'],
    ],
    reason: 'HTTP asks the core; where the data lies is not its business',
  },
  'src/http/front': {
    ours: ['src/http/', 'src/core/outbox/address.ts', ...LEAVES],
    packages: ['node:fs', 'node:net', 'node:path'],
    reason: 'a front hands bytes to the server inside; it knows sockets, and nothing of calls',
  },
  'src/console': {
    ours: ['src/console/', 'src/core/counted.ts', 'src/labels/'],
    // The calls with what they take and give: nothing of the server is in the page.
    types: ['src/core/account/roles.ts', 'src/call/table.ts'],
    packages: ['preact', '@preact/signals', 'uqr'],
    reason: 'the page runs in a browser, and asks the server by its table of calls',
  },
  'src/labels': {
    ours: ['src/labels/'],
    types: [
      'src/core/domain-fields.ts',
      'src/core/field.ts',
      'src/core/port/',
      'src/core/terms.ts',
      'src/core/webhook-fields.ts',
    ],
    packages: [],
    reason: 'texts alone: the page of the console has them too',
  },
  'src/store/kind.ts': {
    ours: [],
    types: ['src/core/port/', ...LEAVES],
    packages: [],
    reason: 'a kind of store is what all of them can fulfil',
  },
  'src/store/backend.ts': {
    ours: [],
    types: ['src/core/audit/', 'src/core/event/', 'src/core/port/'],
    packages: ['drizzle-orm'],
    reason: 'the nouns see a database through it: it knows none',
  },
  'src/store/refusal.ts': {
    ours: ['src/core/port/store.ts'],
    packages: [],
    reason: 'what stores share has no SQL',
  },
  'src/store/rounds.ts': {
    ours: [],
    types: ['src/store/backend.ts'],
    packages: [],
    reason: 'what stores share has no SQL',
  },
  'src/store/noun': {
    ours: [
      ...['src/store/noun/', 'src/store/backend.ts', 'src/store/cursor.ts', 'src/store/kind.ts'],
      ...['src/store/refusal.ts', 'src/store/status.ts', 'src/store/webhook-row.ts'],
      ...['src/store/findings.ts', 'src/store/statement-text.ts'],
      ...['src/core/', ...LEAVES],
    ],
    types: ['src/store/row.ts'],
    packages: ['drizzle-orm'],
    reason: 'a noun is written once, on the interface of backend.ts, and knows neither database',
  },
  'src/store/findings.ts': {
    ours: LEAVES,
    packages: [],
    reason: 'what stores share has no SQL',
  },
  'src/store/troubles.ts': {
    ours: ['src/core/port/store.ts', ...LEAVES],
    types: ['src/store/kind.ts'],
    packages: [],
    reason: 'what stores share has no SQL',
  },
  'src/store/cursor.ts': {
    ours: [],
    types: ['src/core/port/'],
    packages: [],
    reason: 'what stores share has no SQL',
  },
  'src/store/status.ts': {
    ours: ['src/core/message/', 'src/core/port/', 'src/store/statement-text.ts'],
    types: [],
    packages: ['drizzle-orm'],
    reason: 'the law of states reads the same in every SQL',
  },
  'src/store/row.ts': {
    ours: [],
    types: ['migrations/'],
    packages: ['drizzle-orm'],
    reason: 'the types of rows are those of the tables',
  },
  'src/store/statement-text.ts': {
    ours: [],
    types: ['src/store/row.ts'],
    packages: ['drizzle-orm'],
    reason: 'names of values and columns read the same in every SQL',
  },
  'src/store/webhook-row.ts': {
    ours: ['src/core/field.ts', 'src/core/webhook-fields.ts', 'src/store/statement-text.ts'],
    types: ['src/core/port/', 'src/store/row.ts'],
    packages: [],
    reason: 'a row reads the same in every SQL',
  },
  'src/store/sqlite': {
    ours: [
      ...['src/store/sqlite/', 'src/store/noun/', 'src/store/backend.ts', 'src/store/refusal.ts'],
      ...['src/store/cursor.ts', 'src/store/status.ts', 'src/store/kind.ts'],
      ...['src/store/webhook-row.ts', 'src/store/findings.ts', 'src/store/rounds.ts'],
      ...['src/store/statement-text.ts', 'src/store/troubles.ts'],
      ...['src/core/', 'migrations/sqlite/', ...LEAVES],
    ],
    // bun:ffi: wal-index.ts reads memory that SQLite shares.
    packages: [
      ...['bun:ffi', 'bun:sqlite', 'drizzle-orm'],
      ...['node:fs', 'node:os', 'node:path', 'node:url'],
    ],
    reason: 'a store fulfils the port in core/port/store.ts and knows no caller',
  },
  'src/store/postgres': {
    ours: [
      ...['src/store/postgres/', 'src/store/noun/', 'src/store/backend.ts', 'src/store/refusal.ts'],
      ...['src/store/cursor.ts', 'src/store/status.ts', 'src/store/kind.ts'],
      ...['src/store/webhook-row.ts', 'src/store/findings.ts', 'src/store/rounds.ts'],
      ...['src/store/statement-text.ts', 'src/store/troubles.ts'],
      ...['src/core/', 'migrations/postgres/', ...LEAVES],
    ],
    // bun: the types of its SQL client, which `Bun.SQL` loads at first use.
    packages: ['bun', 'drizzle-orm', 'node:async_hooks', 'node:fs'],
    reason: 'a store fulfils the port in core/port/store.ts and knows no caller, nor its sibling',
  },
  'src/store/move': {
    ours: [
      ...['src/store/move/', 'src/store/sqlite/', 'src/store/postgres/', 'migrations/sqlite/'],
      ...['src/store/backend.ts', 'src/store/noun/audit.ts', 'src/store/statement-text.ts'],
      ...['src/core/', ...LEAVES],
    ],
    packages: ['bun', 'bun:sqlite', 'drizzle-orm', 'node:fs', 'node:path'],
    reason: 'a move between two kinds of store knows both, and nobody else does',
  },
  'src/cli': {
    ours: [
      ...['src/cli/', 'src/call/', 'src/core/', 'src/client/', 'src/panel/', 'src/demo/'],
      ...['src/config/unseen.ts', 'src/conformance/', 'src/device-check/', 'src/disk/fault.ts'],
      ...['sdk/typescript/', 'src/labels/', 'src/peer/', ...LEAVES],
    ],
    types: [
      ...['src/app.ts', 'src/backup/', 'src/config/', 'src/doctor/'],
      ...['src/handover/', 'src/parts/release.ts', 'src/store/kind.ts', 'src/store/move/job.ts'],
    ],
    // src/disk/fault.ts: sentences for faults of the machine.
    // node:fs: an export goes into a file, with the rights and the care that such a file needs;
    // and who runs a command, for the audit log, is in a file. node:zlib: QR codes as PNG.
    packages: ['commander', 'node:readline', 'node:fs', 'node:zlib', 'uqr'],
    reason: 'commands are handed the product in CliContext, so that tests can hand them another',
  },
  'src/disk': {
    ours: ['src/disk/', 'src/base/'],
    // Bun has no call for locks between processes; SQLite has, and codes for what disks refuse.
    packages: ['bun:sqlite', 'node:crypto', 'node:fs', 'node:path'],
    reason: 'disks are the same for everybody who writes to them',
  },
  'src/outgoing': {
    // Which addresses may be called is asked again here, after a name was looked up.
    ours: [
      ...['src/outgoing/', 'src/core/outbox/address.ts', 'src/core/outbox/retry-after.ts'],
      ...['src/core/port/reach.ts', ...LEAVES],
    ],
    // http1.ts and tunnel.ts have the reasons.
    packages: [
      ...['node:crypto', 'node:dns', 'node:fs', 'node:http', 'node:http2', 'node:https'],
      ...['node:net', 'node:tls'],
    ],
    reason: 'one client makes all calls out; what it carries is not its business',
  },
  'src/gateway': {
    ours: ['src/gateway/', 'src/outgoing/', 'src/core/', ...LEAVES],
    packages: ['jose', 'node:crypto', 'node:fs', 'node:path'],
    reason: 'a gateway speaks a protocol; when it is spoken to is the business of jobs/',
  },
  'src/webhook': {
    ours: ['src/webhook/', 'src/outgoing/', 'src/core/', 'src/labels/', ...LEAVES],
    packages: ['node:crypto'],
    reason: 'webhooks speak a protocol; when they are told is the business of jobs/',
  },
  'src/tls': {
    ours: ['src/tls/', ...LEAVES],
    packages: ['acme-client', 'node:crypto', 'node:fs', 'node:net', 'node:path', 'node:tls'],
    reason: 'certificates are had and handed on; who serves with them is not their business',
  },
  'src/jobs': {
    ours: ['src/jobs/', 'src/core/', ...LEAVES],
    packages: ['croner'],
    reason: "a job rings; what is done then is the core's",
  },
  'src/monitor': {
    ours: ['src/monitor/', 'src/core/', ...LEAVES],
    packages: ['node:fs'],
    reason: 'the monitor is handed what the parts counted; who counts knows no monitor',
  },
  'src/backup': {
    // The head of a backup is JSON from outside, which has one reader.
    ours: [
      ...['src/backup/', 'src/core/calendar.ts', 'src/core/counted.ts', 'src/core/upkeep.ts'],
      ...[...JSON_READER, ...LEAVES],
    ],
    types: ['src/core/', 'src/store/kind.ts'],
    packages: [
      ...['age-encryption', 'node:crypto', 'node:fs', 'node:os', 'node:path', 'node:stream'],
      'node:zlib',
    ],
    reason: 'a backup is a file format; what is in it is the business of the kind of store',
  },
  'src/doctor': {
    ours: [
      ...['src/doctor/', 'src/backup/', 'src/gateway/', 'src/outgoing/', 'src/tls/'],
      // The doctor asks panels as the proxy does.
      ...['src/http/upstream/', 'src/http/front/bounds.ts', 'src/http/port-holder.ts'],
      ...['src/config/secret-files.ts', 'src/config/upstreams.ts', 'src/config/server-note.ts'],
      ...LEAVES,
      'src/core/counted.ts',
      ...['src/core/outbox/address.ts', 'src/core/public-probe.ts', 'src/config/public-address.ts'],
      ...['src/core/calendar.ts', 'src/core/follow-standing.ts', 'src/core/panel/'],
      'src/core/upkeep.ts',
    ],
    types: ['src/config/', 'src/core/port/', 'src/store/kind.ts'],
    packages: ['croner', 'node:crypto', 'node:fs', 'node:os', 'node:path'],
    reason: 'a diagnosis looks at the machine; at the database looks its kind of store',
  },
  'src/demo': {
    ours: ['src/demo/', 'src/core/', ...LEAVES],
    packages: ['node:fs', 'node:os', 'node:path'],
    reason: 'a demonstration makes its world by the core, and lives by the API',
  },
  'src/conformance': {
    ours: ['src/conformance/', 'conformance/', 'src/peer/', ...JSON_READER],
    packages: ['@sinclair/typebox'],
    reason: 'the cases are played to any server: nothing of ours may answer for it',
  },
  'src/device-check': {
    ours: ['src/device-check/', 'src/peer/', 'src/base/clock.ts'],
    packages: ['bun', 'node:fs', 'node:os', 'node:path'],
    reason: 'the scripted server plays the protocol as documented, not as the server has it',
  },
  'src/peer': {
    ours: ['src/peer/', 'src/base/clock.ts'],
    packages: [],
    reason: 'the two that play scripts share it: nothing of the server may answer for them',
  },
  'sdk/typescript': {
    ours: ['sdk/typescript/'],
    // The driver and the sample alone.
    packages: ['node:fs', 'node:path', 'node:readline'],
    reason: 'a kit runs in the apps of others: it needs nothing of ours',
  },
  'src/client': {
    ours: [...JSON_READER, 'src/core/counted.ts', 'src/base/deadline.ts'],
    packages: [],
    reason: 'what another server answers is JSON from outside, which has one reader',
  },
  'src/panel': {
    ours: [
      'src/panel/',
      'src/core/moving/',
      'src/core/panel/',
      ...['src/core/turn.ts', 'src/base/operator-error.ts', 'src/base/version.ts'],
      ...JSON_READER,
    ],
    packages: ['bun:sqlite', 'node:fs', 'node:os', 'node:path', 'node:url'],
    reason: 'what a database of a panel means is the business of the core; here it is read',
  },
  'src/cli/systemd.ts': {
    ours: ['src/base/operator-error.ts'],
    packages: ['bun:ffi'],
    reason: 'calls into libc are in one small file, where they can be looked through',
  },
  'src/config': {
    ours: [
      ...['src/config/', 'src/core/formats.ts', 'src/core/host-name.ts', 'src/core/key-path.ts'],
      ...['src/core/panel/', 'src/core/outbox/address.ts'],
      ...['src/core/port/reach.ts', 'src/core/port/upstream.ts'],
      ...JSON_READER,
      ...['src/http/request/address.ts', 'src/outgoing/proxy.ts', 'src/tls/name.ts', ...LEAVES],
    ],
    // croner knows what a cron pattern is, node:net what an address.
    packages: ['toml-eslint-parser', 'croner', 'node:fs', 'node:net', 'node:path'],
    reason:
      'the configuration is read once and handed on; the reader of a setting may come from the part that it is for',
  },
  'src/app.ts': {
    ours: ['src/'],
    packages: [],
    reason: 'app puts the parts together',
  },
  'src/parts/console-files.ts': {
    ours: [],
    packages: ['node:fs', 'node:path'],
    reason: 'the files of the page are handed to the server, which knows no disk',
  },
  'src/parts/appliance.ts': {
    ours: ['src/config/', 'src/core/json-input.ts', 'src/monitor/', ...LEAVES],
    types: ['src/call/appliance.ts', 'src/parts/own-program.ts'],
    packages: [],
    reason: 'what the operator sees of the process is gathered from its parts, and handed to http',
  },
  'src/parts/own-program.ts': {
    ours: [],
    packages: [],
    reason: 'the program runs its own commands: it needs to know nothing of them',
  },
  'src/parts/open-monitor.ts': {
    ours: ['src/config/', 'src/monitor/', ...LEAVES],
    packages: [],
    reason: 'the part of app.ts that opens the monitor',
  },
  'src/parts/open-core.ts': {
    ours: ['src/'],
    // node:os has the name of the machine.
    packages: ['node:os'],
    reason: 'the part of app.ts that opens the data, and alone chooses the kind of store',
  },
  'src/parts/open-outgoing.ts': {
    ours: ['src/core/', 'src/gateway/', 'src/jobs/', 'src/outgoing/', 'src/webhook/', ...LEAVES],
    types: ['src/config/'],
    packages: [],
    reason: 'the part of app.ts that opens what calls out',
  },
  'src/parts/open-timekeeper.ts': {
    ours: ['src/core/', 'src/parts/open-core.ts', ...LEAVES],
    types: ['src/config/'],
    packages: [],
    reason: 'the part of app.ts that opens the guard of the clock',
  },
  'src/parts/open-upkeep.ts': {
    ours: [
      'src/backup/',
      'src/jobs/',
      'src/parts/own-program.ts',
      'src/parts/release.ts',
      ...LEAVES,
    ],
    types: ['src/config/', 'src/core/', 'src/outgoing/'],
    packages: [],
    reason: 'the part of app.ts that starts what the server does for itself by the clock',
  },
  'src/parts/live-follow.ts': {
    ours: ['src/core/', 'src/http/upstream/', 'src/jobs/', 'src/panel/', ...PROGRAM],
    packages: [],
    reason: 'the part of app.ts that holds what follows panels, in processes that read them',
  },
  'src/parts/live-gateways.ts': {
    ours: ['src/core/', 'src/gateway/', 'src/jobs/', 'src/monitor/', 'src/outgoing/', ...LEAVES],
    types: ['src/config/'],
    packages: [],
    reason: 'the part of app.ts that holds the gateways',
  },
  'src/parts/live-stranger-page.ts': {
    ours: ['src/outgoing/', ...LEAVES],
    types: ['src/config/', 'src/http/strangers.ts'],
    packages: ['node:path'],
    reason: 'the part of app.ts that holds the answer to strangers',
  },
  'src/parts/live-upstreams.ts': {
    ours: ['src/config/', 'src/core/', 'src/doctor/', 'src/http/upstream/', ...LEAVES],
    types: ['src/call/appliance.ts'],
    packages: ['node:dns'],
    reason: 'the part of app.ts that holds the upstreams; the configuration reads what is kept too',
  },
  'src/handover': {
    ours: ['src/backup/container.ts', 'src/config/', 'src/disk/', 'src/handover/', ...PROGRAM],
    packages: ['commander', 'node:fs', 'node:os', 'node:path', 'node:stream/promises'],
    reason: 'what root does before it becomes another user is in one place',
  },
  'src/parts/file-check.ts': {
    ours: ['src/config/', 'src/gateway/', 'src/parts/', ...LEAVES],
    packages: ['node:fs'],
    reason: 'what a reload reads is read before it, by the same functions',
  },
  'src/parts/release.ts': {
    ours: ['src/outgoing/', ...LEAVES],
    types: ['src/config/'],
    packages: ['node:crypto'],
    reason: 'a release page is asked through the one client, and nothing is installed',
  },
  'src/parts': {
    ours: ['src/config/', 'src/doctor/certificate.ts', ...LEAVES],
    packages: [],
    reason: 'a part of app.ts knows what it opens, holds or stops',
  },
  'src/cli/explanations.ts': {
    ours: [
      ...['src/core/audit/entry.ts', 'src/http/messages.ts', 'src/monitor/log-events.ts'],
      ...['src/monitor/metric-table.ts', ...LEAVES],
    ],
    types: ['src/cli/context.ts'],
    packages: [],
    reason: 'what a code means is read where the codes are',
  },
  'src/*': {
    ours: [
      ...['src/app.ts', 'src/backup/', 'src/cli/', 'src/config/', 'src/doctor/', 'src/handover/'],
      ...['src/http/', 'src/panel/', 'src/parts/', ...LEAVES],
    ],
    packages: [],
    reason: 'main hands the commands what app has put together',
  },
};

export function ruleFor(path: string): Rule | undefined {
  if (RULES[path] !== undefined) return RULES[path];
  if (/^src\/[^/]+$/.test(path)) return RULES['src/*'];
  const folder = Object.keys(RULES)
    .filter((candidate) => path.startsWith(`${candidate}/`))
    .sort((one, other) => other.length - one.length)[0];
  return folder === undefined ? undefined : RULES[folder];
}
