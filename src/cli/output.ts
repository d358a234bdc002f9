/** Standard output, whose reader may be slow or closed, or which may be a full disk. */

/** Writes in order. A closed reader (`| head`) is no error. */
export class Output {
  readonly #stream: NodeJS.WritableStream;
  #last: Promise<boolean> = Promise.resolve(true);
  #problem: string | null = null;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
    // The callback receives the fault; an unhandled event would end the program.
    stream.on('error', () => {});
  }

  /** Writes text. Returns false if the reader has closed. */
  readonly write = (text: string): Promise<boolean> => {
    this.#last = new Promise((resolve) => {
      this.#stream.write(text, (error?: NodeJS.ErrnoException | null) => {
        if (error && error.code !== 'EPIPE') this.#problem ??= error.message;
        resolve(!error);
      });
    });
    return this.#last;
  };

  /** Waits for all writes. Returns the error of the first one that failed, or null. */
  async finish(): Promise<string | null> {
    await this.#last;
    return this.#problem;
  }
}
