/** Secrets in files that settings name, read at the start and on SIGHUP. */

import { OperatorError } from '../base/operator-error.ts';
import { firstLineOfSecret, secretIn } from '../base/permissions.ts';
import { ACCESS_HEADERS_RULE, readAccessHeaders } from '../core/panel/access-headers.ts';
import { ACCOUNT_RULE, readAccount } from '../core/panel/account.ts';

interface Settings {
  readonly gateProviderIdFile: string;
  readonly gateKeySecretFile: string;
  readonly gatePanelTokenFile: string;
  readonly gatePanelAccountFile: string;
  readonly gatePanelHeadersFile: string;
  readonly gateUpstreams: readonly {
    readonly providerIdFile: string;
    readonly keySecretFile: string;
    readonly panelTokenFile: string;
    readonly panelAccountFile: string;
    readonly panelHeadersFile: string;
  }[];
}

interface Kind {
  /** The key of the settings, for messages. */
  key: string;
  filesOf(settings: Settings): string[];
  /** True: the secret is the whole file, not its first line. */
  isWhole?: true;
  /** True: it is read again when it is used, and not kept in memory. */
  isReadLater?: true;
  fits(secret: string): boolean;
  /** The rule after "is not". */
  rule: string;
}

const fitting = (pattern: RegExp) => (line: string) => pattern.test(line);

const KINDS: readonly Kind[] = [
  {
    // The Provider ID of Happ. Apps take it from a header, so it has no blanks and no line breaks.
    key: 'provider_id_file',
    filesOf: (of) => [of.gateProviderIdFile, ...of.gateUpstreams.map((one) => one.providerIdFile)],
    fits: fitting(/^[\w-]{1,64}$/),
    rule: '1 to 64 letters, digits, - and _',
  },
  {
    // The secret that signs a panel's tokens: Marzban and PasarGuard make 64 hexadecimal digits.
    key: 'key_secret_file',
    filesOf: (of) => [of.gateKeySecretFile, ...of.gateUpstreams.map((one) => one.keySecretFile)],
    fits: fitting(/^[\x21-\x7e]{16,256}$/),
    rule: '16 to 256 visible ASCII characters',
  },
  {
    // A token of a panel's API; a JWT is long.
    key: 'panel_token_file',
    filesOf: (of) => [of.gatePanelTokenFile, ...of.gateUpstreams.map((one) => one.panelTokenFile)],
    fits: fitting(/^[\x21-\x7e]{8,4096}$/),
    rule: '8 to 4096 visible ASCII characters',
  },
  {
    key: 'panel_account_file',
    filesOf: (of) => [
      ...[of.gatePanelAccountFile, ...of.gateUpstreams.map((one) => one.panelAccountFile)],
    ],
    isWhole: true,
    isReadLater: true,
    fits: (text) => readAccount(text) !== null,
    rule: ACCOUNT_RULE,
  },
  {
    key: 'panel_headers_file',
    filesOf: (of) => [
      ...[of.gatePanelHeadersFile, ...of.gateUpstreams.map((one) => one.panelHeadersFile)],
    ],
    isWhole: true,
    fits: (text) => readAccessHeaders(text) !== null,
    rule: ACCESS_HEADERS_RULE,
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
      for (const file of files) {
        const secret = readSecret(file, kind);
        if (!kind.isReadLater) byFile.set(file, secret);
      }
    }
    return () => {
      this.#byFile = byFile;
    };
  }
}

function readSecret(file: string, { key, isWhole, fits, rule }: Kind): string {
  let secret: string;
  try {
    secret = isWhole ? secretIn(file) : firstLineOfSecret(file).trim();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(`${key}: ${error.message}`);
  }
  // It may be another secret by mistake, so the message does not repeat it.
  if (fits(secret)) return secret;
  const part = isWhole ? file : `the first line of ${file}`;
  throw new OperatorError(`${key}: ${part} is not ${rule}`);
}
