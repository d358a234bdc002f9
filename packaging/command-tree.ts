/** The command line as data, read from commander, for the manual page and the tests. */

import type { Command, Option } from 'commander';

/** The kind of a value: one of some words, the name of a file or directory, or any text. */
export type Value = { words: readonly string[] } | 'file' | 'directory' | 'text';

export interface OptionFacts {
  /** The form in help: `-p, --port <number>`. */
  flags: string;
  /** Each spelling: `--port`. */
  names: readonly string[];
  /** The text in help: with its choices, its default, and whether it is required. */
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
  /** The commands of this group. */
  children: readonly { name: string; about: string }[];
}

/** Returns a command and all visible commands below it, a group before its commands. */
export function commandTree(command: Command, path: readonly string[] = []): CommandFacts[] {
  const help = command.createHelp();
  // Leaves out commander's own help command, which has no parent.
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
  return [own, ...children.flatMap((child) => commandTree(child, [...path, child.name()]))];
}

function optionFacts(option: Option, help: string): OptionFacts {
  const placeholder = /[<[]([^>\]]+)/.exec(option.flags)?.[1];
  return {
    flags: option.flags,
    names: [option.short, option.long].filter((name) => name != null),
    help,
    value: placeholder === undefined ? null : valueNamed(placeholder, option.argChoices),
  };
}

/** Returns the kind of a value by its placeholder: `<file>`, `<directory>`. */
function valueNamed(name: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return { words: choices };
  return name === 'file' || name === 'directory' ? name : 'text';
}
