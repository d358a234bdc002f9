/** The product in memory, as simple as can be: what links, devices and bindings should do. */

export interface ModelLink {
  id: number;
  owner: number;
  code: string;
  limit: number;
  status: number;
  note: string | null;
  /** In the order of registration. */
  hwids: string[];
}

interface ModelBinding {
  id: number;
  owner: number;
  hash: string;
  name: string;
  status: number;
}

interface Reply {
  rc: number;
  msg: string;
  [field: string]: unknown;
}

const OK = { rc: 1, msg: 'Ok' };

function nextId(last: number, given = last + 1): number {
  if (given <= last) throw new Error(`the id ${given} comes after ${last}`);
  return given;
}

const error = (msg: string): Reply => ({ rc: 0, msg });

/**
 * Each method answers as the API should, and changes the model as the API should change its data.
 */
export class Model {
  links: ModelLink[] = [];
  bindings: ModelBinding[] = [];
  #linkId = 0;
  #bindingId = 0;
  readonly #providerCodes: readonly string[];
  readonly #linksMax: number;

  constructor(providerCodes: readonly string[], linksMax: number) {
    this.#providerCodes = providerCodes;
    this.#linksMax = linksMax;
  }

  /** With `given`, the id is that one, and only has to be higher than any before. */
  addLink(owner: number, code: string, limit: number, given?: number): Reply {
    if (this.linkOf(code)) return { rc: 2, msg: 'Install code exists' };
    const count = this.links.filter((link) => link.owner === owner).length;
    if (count >= this.#linksMax) return error('Install code limit reached');
    const id = nextId(this.#linkId, given);
    this.#linkId = id;
    this.links.push({ id, owner, code, limit, status: 10, note: null, hwids: [] });
    return { ...OK, install_code: code, id };
  }

  updateLink(
    owner: number,
    id: number,
    change: { limit?: number | undefined; note?: string | undefined; status?: number | undefined },
  ): Reply {
    const link = this.links.find((known) => known.id === id && known.owner === owner);
    if (!link) return error('Install not found');
    if ((change.limit ?? link.limit) < link.hwids.length) {
      return error('Install limit is less than the current install_count');
    }
    link.limit = change.limit ?? link.limit;
    link.status = change.status ?? link.status;
    if (change.note !== undefined) link.note = change.note || null;
    return { ...OK, install_code: link.code, id };
  }

  knock(code: string, hash: string, hwid: string): Reply {
    const link = this.linkOf(code);
    const isBound = this.bindings.some(
      (known) => known.owner === link?.owner && known.hash === hash && known.status === 10,
    );
    if (!link || !isBound) return error('Install not found');
    if (link.status !== 10) return error('Install disabled');
    if (!link.hwids.includes(hwid)) {
      if (link.hwids.length >= link.limit) return error('Install limit reached');
      link.hwids.push(hwid);
    }
    return {
      ...OK,
      provider_id: this.#providerCodes[link.owner],
      status: 10,
      install_limit: link.limit,
      install_count: link.hwids.length,
    };
  }

  deleteHwid(owner: number, code: string, hwid: string): Reply {
    const link = this.linkOf(code);
    if (link?.owner !== owner) return error('Install code error');
    link.hwids = link.hwids.filter((known) => known !== hwid);
    return { ...OK, install_count: link.hwids.length };
  }

  addDomain(owner: number, hash: string, name: string, given?: number): Reply {
    const known = this.bindings.find((other) => other.owner === owner && other.hash === hash);
    if (!known) {
      const id = nextId(this.#bindingId, given);
      this.#bindingId = id;
      this.bindings.push({ id, owner, hash, name: name || hash.slice(0, 10), status: 10 });
      return { ...OK, id };
    }
    const wasActive = known.status === 10;
    known.status = 10;
    known.name = name || known.name;
    const msg = wasActive ? 'Domain hash exists' : 'Domain hash exists. State set to active';
    return { rc: 2, msg, id: known.id };
  }

  deleteDomain(owner: number, id: number): Reply {
    const known = this.bindings.find((other) => other.owner === owner && other.id === id);
    if (!known) return error('Domain not found');
    known.status = 5;
    return OK;
  }

  forgetDevice(hwid: string): void {
    for (const link of this.links) link.hwids = link.hwids.filter((known) => known !== hwid);
  }

  linkOf(code: string): ModelLink | undefined {
    return this.links.find((link) => link.code === code);
  }
}
