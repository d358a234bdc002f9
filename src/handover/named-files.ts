/** The files that a command line names: commands read some, and make others. */

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { NO_FILE } from '../config/files.ts';
import { folderOf } from '../config/folder.ts';

export interface NamedFile {
  path: string;
  /** A file to read, a file to make, or a folder for files to make. */
  use: 'read' | 'make' | 'fill';
  /** Puts another path in its place. */
  replace(path: string): void;
}

/** Commands whose argument `file` is to be made. */
const MAKERS = ['backup', 'export', 'audit export'];

/** Commands that use no data of an installation: root runs them as root. */
export const WITHOUT_DATA = [
  'conformance',
  'demo',
  'device check',
  'device simulate',
  'openapi',
  'version',
];

/** Lists the files of a command line; `-` is none. */
export function namedFiles(command: Command): NamedFile[] {
  const options = command.options.flatMap((option): NamedFile[] => {
    const name = option.attributeName();
    const path: unknown = command.getOptionValue(name);
    const use = useOf(option.flags);
    if (use === null || !isPath(path) || isWithFolder(option.flags, path)) return [];
    return [{ path, use, replace: (other) => void command.setOptionValue(name, other) }];
  });
  const values: unknown[] = command.processedArgs;
  const use = MAKERS.includes(pathOf(command)) ? 'make' : 'read';
  const files = command.registeredArguments.flatMap((argument, at): NamedFile[] => {
    const path = values[at];
    if (argument.name() !== 'file' || !isPath(path)) return [];
    const replace = (other: string) => {
      values[at] = other;
    };
    return [{ path, use, replace }];
  });
  return [...options, ...files];
}

/** Returns the use of the file of an option, by its help; null: it names none. */
function useOf(flags: string): NamedFile['use'] | null {
  if (flags.endsWith('<file>')) return 'read';
  return flags === '--out <directory>' ? 'fill' : null;
}

/** Returns whether this is a configuration file that only counts together with its folder. */
function isWithFolder(flags: string, path: string): boolean {
  const folder = flags === '--config <file>' ? folderOf(path) : null;
  return path === NO_FILE || (folder !== null && existsSync(folder));
}

const isPath = (value: unknown): value is string => typeof value === 'string' && value !== '-';

/** Returns the words of a command, such as `audit export`. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trimStart();
}
