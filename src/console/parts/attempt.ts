/** The name of an attempt: the server does the same attempt once, even if its answer was lost. */

export class Attempt {
  #content = '';
  #name = '';

  /** Returns the name for this content; a repeat with the same content has the same name. */
  nameOf(content: unknown): string {
    const text = JSON.stringify(content);
    if (text !== this.#content) [this.#content, this.#name] = [text, crypto.randomUUID()];
    return this.#name;
  }

  /** Ends the attempt: the same content then starts another. */
  end(): void {
    this.#content = '';
  }
}
