/** Standard output: its reader may be slow or gone, or a disk that is full. */

/** Writes in order. A reader who has seen enough and left (`| head`) is no error; all else is. */
export class Output {
  readonly #stream: NodeJS.WritableStream;
  #last: Promise<boolean> = Promise.resolve(true);
  #problem: string | null = null;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
    // A fault reaches the writer by its callback; an event unheard would end the program.
    stream.on('error', () => {});
  }

  /** Writes text; settles when it has been taken. False: nobody takes any more. */
  readonly write = (text: string): Promise<boolean> => {
    this.#last = new Promise((resolve) => {
      this.#stream.write(text, (error?: NodeJS.ErrnoException | null) => {
        if (error && error.code !== 'EPIPE') this.#problem ??= error.message;
        resolve(!error);
      });
    });
    return this.#last;
  };

  /** Waits for all writes; returns the reason if one of them failed, or null. */
  async finish(): Promise<string | null> {
    await this.#last;
    return this.#problem;
  }
}
