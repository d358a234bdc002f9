/** Dumps as text: only the rows of the tables that are wanted, whatever stands in texts. */

import { expect, test } from 'bun:test';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { RowSink } from '../../src/panel/rows.ts';
import { readSqlDump } from '../../src/panel/sql-dump.ts';
import { mysqlDump, pgDump, pgInserts } from '../support/panel-tables.ts';
import { READING } from '../support/reading.ts';

/** Reads a dump in chunks of that many characters. */
async function rowsOf(text: string, chunk = 7) {
  const sink = new RowSink(PANEL_TRAITS.marzban.database, 'dump.sql', READING);
  async function* chunks() {
    for (let at = 0; at < text.length; at += chunk) yield text.slice(at, at + chunk);
  }
  await readSqlDump(chunks(), sink);
  return sink.finish('marzban').get('users');
}

/** Puts statements between the head and the end of SQLite's `.dump`. */
const whole = (...lines: string[]) => ['BEGIN TRANSACTION;', ...lines, 'COMMIT;', ''].join('\n');

const EVIL =
  "x'),('forged','active','',null);\nINSERT INTO `users` VALUES (9,'forged');\nINSERT INTO users VALUES ('forged');\n\\.\n";
const USERS = [
  { id: 1, username: 'anna', status: 'active', note: "O'Brien \\' \\\\ (a),(b); -- \t\r\n end" },
  { id: 2, username: 'boris', status: 'disabled', note: null },
  { id: 3, username: 'ю😀', status: 'active', note: EVIL },
];
const TABLES = (definition: string, other: string) => [
  { name: 'notes', definition: other, rows: [{ id: 1, text: EVIL }] },
  { name: 'users', definition, rows: USERS },
];
const WANTED = USERS.map(({ username, status, note }) => ({ username, status, note }));
const COLUMNS = 'id bigint NOT NULL,\n    username text,\n    status text,\n    note text';

test.each([
  ['COPY of pg_dump', pgDump],
  ['INSERT of pg_dump', pgInserts],
])('%s', async (_, write) => {
  const dump = write(
    TABLES(
      `CREATE TABLE public.users (\n    ${COLUMNS}\n);`,
      'CREATE TABLE public.notes (\n    id bigint,\n    text text\n);',
    ),
  );
  expect(await rowsOf(dump)).toEqual(WANTED);
  expect(await rowsOf(dump, 100_000)).toEqual(WANTED);
});

test('mysqldump, without names of columns', async () => {
  const dump = mysqlDump(
    TABLES(
      `CREATE TABLE \`users\` (
  \`id\` int(11) NOT NULL,
  \`username\` varchar(34),
  \`status\` enum('a','b,)') NOT NULL,
  \`note\` text DEFAULT 'a, b',
  PRIMARY KEY (\`id\`),
  KEY \`x\` (\`status\`,\`note\`)
);`,
      'CREATE TABLE `notes` (`id` int, `text` text);',
    ),
  );
  expect(await rowsOf(dump)).toEqual(WANTED);
});

test('names of columns, casts, escapes and line breaks as each program writes them', async () => {
  const dump = whole(
    "INSERT INTO public.users (note, username) VALUES (E'a\\nb\\'c', 'one'::character varying);",
    'INSERT INTO "users"("username","note") VALUES(\'two\',replace(\'a\\nb\',\'\\n\',char(10)));',
    "INSERT IGNORE INTO `users` (`username`, `note`) VALUES (_utf8mb4'three',NULL) ,\r\n('four','x');",
    "REPLACE INTO `users` (`username`) VALUES ('five');",
    "INSERT  IGNORE INTO `users` (`username`) VALUES ('six');",
    "REPLACE IGNORE INTO `users` (`username`) VALUES ('seven');",
    "INSERT OR REPLACE INTO users (username) VALUES ('eight');",
  );
  expect(await rowsOf(dump)).toEqual([
    { note: "a\nb'c", username: 'one' },
    { username: 'two', note: 'a\nb' },
    { username: 'three', note: null },
    { username: 'four', note: 'x' },
    ...['five', 'six', 'seven', 'eight'].map((username) => ({ username })),
  ]);
});

test('a COPY with line ends of Windows', async () => {
  const copy = 'COPY public.users (username, note) FROM stdin;\r\nanna\tx\r\n\\.\r\nSELECT 1;\r\n';
  const end = '-- PostgreSQL database dump complete\r\n';
  const dump = `-- PostgreSQL database dump\r\n${copy}${end}`;
  expect(await rowsOf(dump)).toEqual([{ username: 'anna', note: 'x' }]);
});

test.each([
  ['a dump without the table', 'SELECT 1;\n', 'dump.sql is no database of marzban'],
  ['a table cut off', 'COPY public.users (username) FROM stdin;\nanna\n', 'dump.sql is truncated'],
  [
    'a dump without a known head',
    "INSERT INTO users (username) VALUES ('anna');\n",
    'dump.sql may be truncated',
  ],
  [
    'rows that are set',
    whole("INSERT INTO users SET username = 'anna';"),
    'has statements that cannot be read (INSERT INTO users)',
  ],
  ['rows from elsewhere', whole('INSERT INTO users SELECT * FROM x;'), 'cannot be read'],
  ['rows of a file', whole("LOAD DATA INFILE 'x' INTO TABLE `users`;"), 'cannot be read'],
  ['rows that change', whole("UPDATE users SET username = 'x';"), 'cannot be read (UPDATE users)'],
  ['a table without rows', whole('CREATE TABLE users (username text);'), 'dump.sql has no users'],
  ['a row cut off', "INSERT INTO users (username) VALUES ('anna", 'dump.sql is truncated'],
  ['unnamed columns', "INSERT INTO users VALUES ('anna');", 'does not name the columns of users'],
  [
    'a row without end',
    `INSERT INTO users (username) VALUES ('${'a'.repeat(25 * 1024 ** 2)}`,
    'has a row of more than 16 MiB',
  ],
])('refuses %s', async (_, text, message) => {
  await expect(rowsOf(text, 4 * 1024 ** 2)).rejects.toThrow(message);
});

const DEFINED = 'CREATE TABLE users (username text, status text);';
const ONE = [{ username: 'anna', status: 'active' }];

test.each([
  ['pg_dump', pgDump([{ name: 'users', definition: DEFINED, rows: ONE }])],
  ['mysqldump', mysqlDump([{ name: 'users', definition: DEFINED, rows: ONE }])],
  ['.dump of SQLite', whole(DEFINED, "INSERT INTO users VALUES('anna','active');")],
])('a dump of %s that is cut at the end of any line is refused', async (_, dump) => {
  expect(await rowsOf(dump, 100_000)).toEqual(ONE);
  const lines = dump.trimEnd().split('\n');
  // The last comment of pg_dump is a line of its own.
  const last = lines.findLastIndex((line) => line !== '--');
  for (let count = 1; count <= last; count++) {
    await expect(rowsOf(lines.slice(0, count).join('\n'), 100_000)).rejects.toThrow(
      /is truncated|may be truncated|cannot be read|no database of marzban/,
    );
  }
});

test('statements about other tables are skipped, whatever their form', async () => {
  const other = ["UPDATE notes SET text = 'x';", 'INSERT INTO notes SELECT * FROM users;'];
  const dump = whole(DEFINED, ...other, "INSERT INTO users VALUES('anna','active');");
  expect(await rowsOf(dump)).toEqual(ONE);
});
