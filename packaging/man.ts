/**
 * Writes the manual page gatepost(1) to stdout, from the command line and the table of settings.
 * Usage: man.ts VERSION DATE
 */

import { buildProgram } from '../src/cli/program.ts';
import { settingRows } from '../src/config/settings/index.ts';
import { type CommandFacts, commandTree } from './command-tree.ts';

/** Escapes a text for roff: no escapes, hyphens that can be copied, no requests. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^\./gm, '\\&.');
}

/** Returns a list entry: a term, and its meaning below. */
function entry(term: string, about: string): string {
  return `.TP\n\\fB${plain(term)}\\fR\n${plain(about) || '\\&'}`;
}

function commandSection({ path, usage, about, options, children }: CommandFacts): string {
  return [
    `.SS "gatepost ${plain(path.join(' '))}"`,
    `.B ${plain(usage)}`,
    '.PP',
    plain(sentence(about)),
    ...children.map((child) => entry(child.name, sentence(child.about))),
    ...options.map(({ flags, help }) => entry(flags, sentence(help))),
  ].join('\n');
}

function sentence(text: string): string {
  if (text === '') return '';
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function settingEntries(): string {
  return settingRows
    .map(([, { key, env, about, default: standard }]) => {
      const meaning = about.join(' ').replaceAll('`', '');
      const note = standard === '' ? '' : ` Default: ${standard}`;
      return entry(env === '' ? `(file only) (${key})` : `${env} (${key})`, meaning + note);
    })
    .join('\n');
}

/** Command lines that operators need first, each with its purpose. */
const EXAMPLES: readonly (readonly [about: string, line: string])[] = [
  ['Serve from a folder of your own:', 'gatepost serve --data ./data --port 8080'],
  [
    'Serve on PostgreSQL; each node by the same line:',
    'GATEPOST_DATABASE_URL=postgres://gatepost@db.example.com/gatepost gatepost serve',
  ],
  [
    'Add a provider to the packaged service, as its user:',
    'sudo -u gatepost gatepost provider add --name "Example bot" --plan pro',
  ],
  [
    'Import a provider; only you may be able to read the key file:',
    'gatepost import --from https://api.example.com --code EXAMPLE1 --key-file key --plan pro',
  ],
  [
    'Make a backup, and check it:',
    'gatepost backup one.backup && gatepost restore --verify one.backup',
  ],
  ['Check the installation:', 'sudo -u gatepost gatepost doctor'],
];

function example([about, line]: (typeof EXAMPLES)[number]): string {
  return `.PP\n${plain(about)}\n.PP\n.EX\n    ${plain(line)}\n.EE`;
}

/** Returns the whole page. `date` is the day of the release, YYYY-MM-DD. */
export function manualPage(version: string, date: string): string {
  // Nothing is run: only the names and descriptions are read.
  const program = buildProgram({} as Parameters<typeof buildProgram>[0]);
  const tree = commandTree(program);
  const [root] = tree;
  return `.\\" Made by packaging/man.ts: not to be edited.
.TH GATEPOST 1 "${plain(date)}" "gatepost ${plain(version)}" "User Commands"
.SH NAME
gatepost \\- self\\-hosted appliance for install links, subscription domains and messages
.SH SYNOPSIS
.B gatepost
.RI [ options ]
.RI [ command ]
.SH DESCRIPTION
${plain(program.description())}
.PP
.B gatepost serve
runs the appliance: an HTTP server and a delivery worker over an embedded SQLite database,
or, with
.B database.url
in the configuration, over a PostgreSQL database that several nodes may share.
The other commands work on the same data, also beside a running server;
their changes take effect with the next request.
Run as root, they become the owner of the data directory first.
.SH OPTIONS
${(root?.options ?? []).map(({ flags, help }) => entry(flags, sentence(help))).join('\n')}
.SH COMMANDS
${tree.slice(1).map(commandSection).join('\n')}
.SH EXAMPLES
${EXAMPLES.map(example).join('\n')}
.SH ENVIRONMENT
Each setting has a variable and, in brackets, a key in the configuration file.
Flags override variables, variables the file. An empty variable counts as absent.
${entry('GATEPOST_CONFIG', 'The configuration file, as --config.')}
${settingEntries()}
.SH FILES
${entry('/etc/gatepost/gatepost.toml', 'The settings of the packaged service.')}
${entry('/etc/gatepost/gatepost.d/*.toml', 'More settings, read after that file in the order of their names.')}
${entry('/var/lib/gatepost', 'The data directory of the packaged service.')}
${entry('gatepost.db', 'In the data directory: everything there is, a SQLite database, unless database.url names one of PostgreSQL. While the program runs, gatepost.db-wal and gatepost.db-shm belong to it.')}
.SH SIGNALS
${entry('SIGTERM, SIGINT', 'Finish running work, then end.')}
${entry('SIGHUP', 'Reload the configuration; the log says which changes take effect and which need a restart.')}
${entry('SIGUSR1, SIGUSR2', 'Have no effect.')}
.SH "EXIT STATUS"
${entry('0', 'Success.')}
${entry('1', 'Failure; a sentence on the standard error says why.')}
${entry('2', 'The command line is invalid.')}
.SH "SEE ALSO"
.BR systemctl (1),
.BR journalctl (1)
`;
}

if (import.meta.main) {
  const [version, date] = process.argv.slice(2);
  if (version === undefined || date === undefined) throw new Error('usage: man.ts VERSION DATE');
  process.stdout.write(manualPage(version, date));
}
