/** Standard output, which may be a slow reader's, that of one who has left, or a full disk's. */

/** Writes in order. A reader who has seen enough and left (`| head`) is no error; all else is. */
export class Output {
  readonly #stream: NodeJS.WritableStream;
  #last: Promise<boolean> = Promise.resolve(true);
  #problem: string | null = null;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
    // What went wrong is told to whoever wrote; unheard, it would end the program.
    stream.on('error', () => {});
  }

  /** Settles when the text has been taken. False: nobody takes any more, so leave the rest out. */
  readonly write = (text: string): Promise<boolean> => {
    this.#last = new Promise((resolve) => {
      this.#stream.write(text, (error?: NodeJS.ErrnoException | null) => {
        if (error && error.code !== 'EPIPE') this.#problem ??= error.message;
        resolve(!error);
      });
    });
    return this.#last;
  };

  /** Waits for all that was written; returns why some of it could not be, or null. */
  async finish(): Promise<string | null> {
    await this.#last;
    return this.#problem;
  }
}
