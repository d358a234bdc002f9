/** The command line of the process that makes a file for root. */

/** The first word of the command line of that process. */
export const OUTPUT_WRITER = 'output-writer';

/** The argument after that word, as JSON. */
export interface MakingFile {
  /** The absolute path of the file, or of the folder for several. */
  target: string;
  isFolder: boolean;
  /** Replaces the file if it is a backup, or any file of a folder. */
  replaces: boolean;
}
