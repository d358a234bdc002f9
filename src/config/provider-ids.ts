/** The Provider IDs of Happ: secrets in files, read at the start and on SIGHUP. */

import { OperatorError } from '../operator-error.ts';
import { firstLineOfSecret } from '../permissions.ts';

interface Settings {
  readonly gateProviderIdFile: string;
  readonly gateUpstreams: readonly { readonly providerIdFile: string }[];
}

/** Apps take it from a header: no blanks, nothing that ends a line. */
const PROVIDER_ID = /^[\w-]{1,64}$/;

/** The Provider IDs by the path of their file. A reload replaces them. */
export class ProviderIds {
  #byFile: ReadonlyMap<string, string> = new Map();

  /** Returns the Provider ID in a file of the settings; null: the path is empty. */
  of = (file: string): string | null => this.#byFile.get(file) ?? null;

  /**
   * Reads the files of these settings. Returns a function that puts them in force. Throws
   * `OperatorError` and changes nothing if one cannot be read, is open to other users or holds no
   * Provider ID.
   */
  prepare({ gateProviderIdFile, gateUpstreams }: Settings): () => void {
    const files = [gateProviderIdFile, ...gateUpstreams.map((one) => one.providerIdFile)];
    const byFile = new Map(
      files.filter((file) => file !== '').map((file) => [file, providerIdIn(file)] as const),
    );
    return () => {
      this.#byFile = byFile;
    };
  }
}

function providerIdIn(file: string): string {
  let line: string;
  try {
    line = firstLineOfSecret(file).trim();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(`provider_id_file: ${error.message}`);
  }
  // The line may be another secret, by mistake.
  if (PROVIDER_ID.test(line)) return line;
  throw new OperatorError(
    `provider_id_file: the first line of ${file} is not 1 to 64 letters, digits, - and _`,
  );
}
