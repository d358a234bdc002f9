/** Passphrases typed on the terminal, without echo. */

import { OperatorError } from '../base/operator-error.ts';

const ENTER = /[\r\n]/;
const INTERRUPT = '\u0003';
const END = '\u0004';
const BACKSPACE = /[\u0008\u007f]/;

/** Asks for a passphrase. Throws {@link OperatorError} if it is interrupted or empty. */
export async function askPassphrase(question: string): Promise<string> {
  const typed = await readHidden(question);
  process.stderr.write('\n');
  if (typed === null || typed === '') throw new OperatorError('no passphrase was given');
  return typed;
}

/** Asks for a passphrase twice. Throws {@link OperatorError} if they differ. */
export async function askNewPassphrase(): Promise<string> {
  const first = await askPassphrase('Passphrase');
  if ((await askPassphrase('Once more')) !== first) {
    throw new OperatorError('the two passphrases differ');
  }
  return first;
}

/** Reads the text up to Enter; null: interrupted. */
function readHidden(question: string): Promise<string | null> {
  const { stdin } = process;
  // Before the question, so that no key is echoed.
  stdin.setRawMode(true);
  process.stderr.write(`${question}: `);
  stdin.setEncoding('utf8');
  stdin.resume();
  return new Promise((resolve) => {
    let typed: string[] = [];
    const end = (result: string | null) => {
      stdin.off('data', take);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(result);
    };
    const take = (keys: Buffer | string) => {
      for (const key of String(keys)) {
        if (ENTER.test(key)) return end(typed.join(''));
        if (key === INTERRUPT || key === END) return end(null);
        if (BACKSPACE.test(key)) typed = typed.slice(0, -1);
        else typed.push(key);
      }
    };
    stdin.on('data', take);
  });
}
