/**
 * Another server of the provider API, as the hosted one is known: it lists the newest 5000, has
 * never heard of `before_id`, and answers as badly as a test wants.
 */

import type { Credentials } from '../../src/core/provider.ts';

interface SourceLink {
  id: number;
  install_code: string;
  install_limit: number;
  install_count: number;
  status: number;
  note: string | null;
  created_at: string;
}

interface SourceHwid {
  hwid: string;
  date: string;
  device_name: string;
}

type Query = Record<string, string>;

export class FakeSource {
  readonly credentials: Credentials = { code: 'Source01', authKey: 'k'.repeat(32) };
  /** Newest first, as they are listed. */
  links: SourceLink[] = [];
  hwids = new Map<string, SourceHwid[]>();
  domains: Record<string, unknown>[] = [];
  distributions: Record<string, unknown>[] = [];
  listCountMax = 5000;
  /** Every call, as path and query without credentials. */
  readonly calls: { path: string; query: Query }[] = [];
  /** Answers instead of the server when it returns something. */
  meddle: (path: string, query: Query, n: number) => unknown = () => undefined;
  readonly #server: ReturnType<typeof Bun.serve>;

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const url = new URL(request.url);
        const {
          provider_code: code,
          auth_key: key,
          ...query
        } = Object.fromEntries(url.searchParams) as Query;
        this.calls.push({ path: url.pathname, query });
        const meddled = await this.meddle(url.pathname, query, this.calls.length);
        if (meddled instanceof Response) return meddled;
        if (meddled !== undefined) return Response.json(meddled);
        if (code !== this.credentials.code || key !== this.credentials.authKey) {
          return Response.json({ rc: 0, msg: 'Auth error' });
        }
        return Response.json(this.#answer(url.pathname, query));
      },
    });
  }

  get url(): string {
    return this.#server.url.origin;
  }

  /** Adds a link in front of the list, with HWIDs, the latest first. */
  add(id: number, hwids: string[] = [], more: Partial<SourceLink> = {}): SourceLink {
    const link: SourceLink = {
      id,
      install_code: `Code${String(id).padStart(8, '0')}`,
      install_limit: 10,
      install_count: hwids.length,
      status: 10,
      note: null,
      created_at: '2026-01-02 03:04:05',
      ...more,
    };
    this.links.unshift(link);
    this.hwids.set(
      link.install_code,
      hwids.map((hwid) => ({ hwid, date: '2026-02-03 04:05:06', device_name: `phone ${hwid}` })),
    );
    return link;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }

  #answer(path: string, query: Query): unknown {
    const ok = (data: readonly unknown[]) => ({ rc: 1, msg: 'Ok', data });
    if (path === '/api/list-install') {
      const found = this.links.filter((link) => !query['id'] || String(link.id) === query['id']);
      return ok(found.slice(0, this.listCountMax));
    }
    if (path === '/api/list-hwid') {
      const hwids = this.hwids.get(query['install_code'] ?? '');
      return hwids ? ok(hwids) : { rc: 0, msg: 'Install code error' };
    }
    if (path === '/api/list-domain') return ok(this.domains.slice(0, this.listCountMax));
    if (path === '/remote/list') return ok(this.distributions);
    return { rc: 0, msg: 'Unknown error' };
  }
}
