/** The faults of `faults.txt`, which planted.test.ts plants. */

import { readText } from '../support/tree.ts';

/** In `faults.txt`: case, place and source, then what is taken out and what is put in. */
export interface Fault {
  case: string;
  place: string;
  file: string;
  text: string;
  instead: string;
}

export const FAULTS = readText('test/conformance/faults.txt')
  .trim()
  .split('\n\n')
  .map((fault): Fault => {
    const [head = '', ...lines] = fault.split('\n');
    const [name = '', place = '', file = ''] = head.split(' ');
    const those = (sign: string) =>
      lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n');
    return { case: name, place, file, text: those('-'), instead: those('+') };
  });
