/** Names of attempts: what the server did, though its answer was lost, it does not do again. */

export class Attempt {
  #content = '';
  #name = '';

  /** Returns the name of an attempt with this content: a repeat has the same. */
  nameOf(content: unknown): string {
    const text = JSON.stringify(content);
    if (text !== this.#content) [this.#content, this.#name] = [text, crypto.randomUUID()];
    return this.#name;
  }

  /** Ends it: the same content is another attempt. */
  end(): void {
    this.#content = '';
  }
}
