import type { MutatedFile } from '../mutation.ts';

const JAVA_TESTS = ['', '-check', '-app', '-kills'].map((of) => `test/kits/java${of}.test.ts`);

/** The kits for devices. */
export const kits: readonly MutatedFile[] = [
  {
    file: 'sdk/c/gatepost.c',
    tests: ['test/kits/c.test.ts'],
    changes: [
      ['if (version != d->token_version || d->requests[REGISTER].number != 0) return;', ''],
      ['if (d->token_version == d->doubted_version) return;', ''],
      ['d->ping > 0 && ping >= PING_MIN', '0 && ping >= PING_MIN'],
      ['if (handling == GATEPOST_KEPT) d->is_dirty = was_dirty;', ''],
      ['if (code == 1007 && !d->was_malformed) settle_frame(d, 1);', ''],
      ['if (d->now - d->heard_at >= silence(d)) cut', 'if (0) cut'],
      ['if (d->is_dirty || d->is_writing) return 0;\n  return connect_line', 'return connect_line'],
      ['if (d->is_handling || d->input_from == 0) return;', 'if (d->input_from == 0) return;'],
      ['|| depth == 0) return NULL', ') return NULL'],
      ['end - *at >= 6', 'end - *at > 6'],
    ],
  },
  {
    file: 'sdk/java/src/org/gatepost/device/Device.java',
    tests: JAVA_TESTS,
    changes: [
      ['if (closed.code == CLOSE_REPLACED) end(State.REPLACED, closed.reason);', 'if (false) {}'],
      ['if (token.equals(doubted)) return;', ''],
      ['if (before != null) {', 'if (false) {'],
      ['due.removeIf(line::isUnderWay);', ''],
      ['end(State.REFUSED, "another device registers this HWID");', ''],
      ['if (isMissing && !line.isOpen()) fetch', 'if (false) fetch'],
      ['if (!token.equals(keeper.now().token)) return;', ''],
    ],
  },
  {
    file: 'sdk/java/src/org/gatepost/device/Wire.java',
    tests: JAVA_TESTS,
    changes: [
      ['parameters.setEndpointIdentificationAlgorithm("HTTPS");', ''],
      ['if (silenceMs > 0) return silenceMs;', ''],
    ],
  },
  {
    file: 'sdk/typescript/src/device.ts',
    tests: ['test/kits/typescript.test.ts'],
    changes: [
      [`if (code === CLOSE_REPLACED) this.#end('replaced');`, ''],
      [`this.#end('refused', 'another device registers this HWID');`, ''],
      ['if (before !== null) return await', 'if (false) return await'],
      ['this.#keeper.step(() => this.#handle(one))', 'this.#handle(one)'],
      ['if (answer?.msg === TOKEN_ERROR) await', 'if (false) await'],
    ],
  },
];
