/** The command line as data, read from commander, for the man page and for completions. */

import type { Command, Option } from 'commander';

/** The kind of value in one place: words to choose from, the name of a file, or anything. */
export type Value = { words: readonly string[] } | 'file' | 'directory' | 'text';

export interface OptionFacts {
  /** The form in help: `-p, --port <number>`. */
  flags: string;
  /** Each spelling: `--port`. */
  names: readonly string[];
  about: string;
  /** As help has it: with its choices, its default, and whether it must be given. */
  help: string;
  /** The value behind the option; null: it takes none. */
  value: Value | null;
}

export interface CommandFacts {
  /** The words after `gatepost`; none for the program itself. */
  path: readonly string[];
  about: string;
  /** `gatepost provider set [options] <code>` */
  usage: string;
  args: readonly Value[];
  options: readonly OptionFacts[];
  /** Names of the commands below this one, with what they do. */
  children: readonly { name: string; about: string }[];
}

/** A command (the program itself) and all below it that help shows, groups first. */
export function commandTree(command: Command, path: readonly string[] = []): CommandFacts[] {
  const help = command.createHelp();
  // Without commander's own help command, which hangs nowhere in the tree.
  const children = help.visibleCommands(command).filter(({ parent }) => parent === command);
  const own: CommandFacts = {
    path,
    about: command.description(),
    usage: help.commandUsage(command),
    args: command.registeredArguments.map((argument) =>
      valueNamed(argument.name(), argument.argChoices),
    ),
    options: help
      .visibleOptions(command)
      .map((option) => optionFacts(option, help.optionDescription(option))),
    children: children.map((child) => ({ name: child.name(), about: child.description() })),
  };
  const below = children.map((child) => commandTree(child, [...path, child.name()]));
  return [own, ...below.flat()];
}

function optionFacts(option: Option, inHelp: string): OptionFacts {
  const names = [option.short, option.long].filter((name) => name != null);
  const takesValue = option.required || option.optional;
  const placeholder = /[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? '';
  return {
    flags: option.flags,
    names,
    about: option.description,
    help: inHelp,
    value: takesValue ? valueNamed(placeholder, option.argChoices) : null,
  };
}

/** The kind of a value by its name, which says whether it is a file or a directory. */
function valueNamed(name: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return { words: choices };
  if (/\b(?:directory|folder)\b/i.test(name)) return 'directory';
  return /\b(?:file|path)\b/i.test(name) ? 'file' : 'text';
}

/** One kind of value with every place where it may stand. */
interface Places {
  value: Value;
  /** `provider add:--data` for what follows an option, `provider show:1` for an argument. */
  places: readonly string[];
}

/** Each kind of value once with its places: the tables of the completion scripts. */
export function byPlace(tree: readonly CommandFacts[]): Places[] {
  const all = tree.flatMap(({ path, args, options }) => [
    ...args.map((value, index) => ({ value, place: `${path.join(' ')}:${index + 1}` })),
    ...options.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => ({ value, place: `${path.join(' ')}:${name}` })),
    ),
  ]);
  const kinds = Map.groupBy(all, ({ value }) => JSON.stringify(value));
  return [...kinds.values()].flatMap((rows) =>
    rows.slice(0, 1).map(({ value }) => ({ value, places: rows.map(({ place }) => place) })),
  );
}

const PLACES_NOTE =
  '# The values at a place: "COMMAND:OPTION" after an option, "COMMAND:N" for the Nth argument.';

/**
 * Functions for bash and zsh: `_gatepost_kind` sets `kind` by a place, `_gatepost_command` takes
 * the row of a command and fails if there is none.
 */
export function shellTables(tree: readonly CommandFacts[], rows: readonly string[]): string {
  const values = byPlace(tree).map(
    ({ value, places }) => `    ${places.map(shellText).join('|')})
      kind=${typeof value === 'string' ? value : shellWords(['words', ...value.words])} ;;`,
  );
  return `${PLACES_NOTE}
_gatepost_kind() {
  kind=
  case $1 in
${values.join('\n')}
  esac
}

# The commands and options that may follow a command; fails if there is no such command.
_gatepost_command() {
  case $1 in
${rows.join('\n')}
    *) return 1 ;;
  esac
}`;
}

/** A text as one word of a POSIX shell. */
export function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Words with blanks between them, as one word of a POSIX shell. */
export function shellWords(words: readonly string[]): string {
  return shellText(words.join(' '));
}
