/** Secrets of one line in files that settings name, read at the start and on SIGHUP. */

import { OperatorError } from '../operator-error.ts';
import { firstLineOfSecret } from '../permissions.ts';

interface Settings {
  readonly gateProviderIdFile: string;
  readonly gateKeySecretFile: string;
  readonly gatePanelTokenFile: string;
  readonly gateUpstreams: readonly {
    readonly providerIdFile: string;
    readonly keySecretFile: string;
    readonly panelTokenFile: string;
  }[];
}

interface Kind {
  /** The key of the settings, for messages. */
  key: string;
  filesOf(settings: Settings): string[];
  pattern: RegExp;
  /** The rule after "is not". */
  rule: string;
}

const KINDS: readonly Kind[] = [
  {
    // The Provider ID of Happ. Apps take it from a header, so it has no blanks and no line breaks.
    key: 'provider_id_file',
    filesOf: (of) => [of.gateProviderIdFile, ...of.gateUpstreams.map((one) => one.providerIdFile)],
    pattern: /^[\w-]{1,64}$/,
    rule: '1 to 64 letters, digits, - and _',
  },
  {
    // The secret that signs a panel's tokens: Marzban and PasarGuard make 64 hexadecimal digits.
    key: 'key_secret_file',
    filesOf: (of) => [of.gateKeySecretFile, ...of.gateUpstreams.map((one) => one.keySecretFile)],
    pattern: /^[\x21-\x7e]{16,256}$/,
    rule: '16 to 256 visible ASCII characters',
  },
  {
    // A token of a panel's API; a JWT is long.
    key: 'panel_token_file',
    filesOf: (of) => [of.gatePanelTokenFile, ...of.gateUpstreams.map((one) => one.panelTokenFile)],
    pattern: /^[\x21-\x7e]{8,4096}$/,
    rule: '8 to 4096 visible ASCII characters',
  },
];

/** The secrets by the path of their file. A reload replaces them. */
export class SecretFiles {
  #byFile: ReadonlyMap<string, string> = new Map();

  /** Returns the secret in a file of the settings; null: the path is empty. */
  of = (file: string): string | null => this.#byFile.get(file) ?? null;

  /**
   * Reads the files of these settings. Returns a function that applies them. Throws `OperatorError`
   * and changes nothing if a file cannot be read, is open to other users, or has no secret of its
   * kind.
   */
  prepare(settings: Settings): () => void {
    const byFile = new Map<string, string>();
    for (const kind of KINDS) {
      const files = kind.filesOf(settings).filter((file) => file !== '');
      for (const file of files) byFile.set(file, secretIn(file, kind));
    }
    return () => {
      this.#byFile = byFile;
    };
  }
}

function secretIn(file: string, { key, pattern, rule }: Kind): string {
  let line: string;
  try {
    line = firstLineOfSecret(file).trim();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(`${key}: ${error.message}`);
  }
  // The line may be another secret by mistake, so the message does not repeat it.
  if (pattern.test(line)) return line;
  throw new OperatorError(`${key}: the first line of ${file} is not ${rule}`);
}
