/** Cases about the device: restarts, tokens that end, another phone with its HWID. */

import { DOMAIN_HASH, LINK } from './app.ts';
import type { Case } from './scene.ts';

export const DEVICE_CASES: readonly Case[] = [
  {
    name: 'register',
    should: 'register with the link, the hash of its domain, its system and a HWID',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      const [first] = scene.stage.of('register');
      const { hwid, install_code: code, domain_hash: hash, os } = first?.body ?? {};
      scene.check(code === LINK, 'registered without install_code of the link');
      scene.check(hash === DOMAIN_HASH, 'registered without domain_hash');
      scene.check(os === 'android', 'registered without os');
      const fits = typeof hwid === 'string' && /^[\x21-\x2b\x2d-\x7e]{16,128}$/.test(hwid);
      scene.check(fits, 'has no HWID of 16 to 128 visible characters without a comma');
      scene.check(first?.token === null, 'showed a token before it had one');
    },
  },
  {
    name: 'hwid',
    should: 'draw a HWID once, keep it over restarts, and draw another when installed again',
    needsDriver: true,
    async play(scene) {
      const hwidOf = (at: number) => scene.stage.of('register').at(at)?.body['hwid'];
      await scene.begin({ push: { gateway: 'fcm', token: 'first-token' } });
      const first = hwidOf(0);
      const before = scene.stage.of('register').length;
      await scene.driver?.restart({ push: { gateway: 'fcm', token: 'other-token' } });
      const isAgain = () => scene.stage.of('register').length > before;
      await scene.back(isAgain, 'did not register its new push address at the start');
      scene.check(hwidOf(-1) === first, 'has another HWID after a restart');
      await scene.driver?.reinstall();
      scene.stage.token = null;
      const known = scene.stage.of('register').length;
      scene.driver?.start();
      const isNew = () => scene.stage.of('register').length > known;
      await scene.back(isNew, 'did not register after it was installed again');
      scene.check(hwidOf(-1) !== first, 'has the same HWID as another installation');
    },
  },
  {
    name: 'restart',
    should: 'keep its token over a restart, and never register without showing it',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      const before = scene.stage.deeds.length;
      await scene.driver?.restart();
      const isBack = () => scene.stage.of('stream', before).length > 0 && scene.stage.isOpen;
      await scene.back(isBack, 'opened no stream after a restart');
      const bare = scene.stage.of('register', before).some(({ token }) => token === null);
      scene.check(!bare, 'registered without its token');
    },
  },
  {
    name: 'restart-twice',
    should: 'know after a restart what it has handled, and acknowledge it',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.script.ignoresFrames = true;
      scene.stage.send(scene.message(1));
      await scene.expect(() => scene.handled().length > 0, 60, 'did not handle message 1');
      await scene.acknowledged('received', 1);
      scene.stage.script.ignoresFrames = false;
      await scene.driver?.kill();
      scene.mark = scene.stage.deeds.length;
      scene.driver?.start();
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'token-dies',
    should: 'register again with the link when its token died, and come back',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      const before = scene.stage.of('register').length;
      scene.stage.killToken();
      const isRegistered = () => scene.stage.token !== null;
      await scene.back(isRegistered, 'did not register again');
      await scene.opened('did not come back');
      const asked = scene.stage.of('register').slice(before);
      scene.check(asked.length <= 2, `registered ${asked.length} times`);
      scene.stage.send(scene.message(1), scene.message(2));
      await scene.acknowledged('received', 2);
      await scene.handledAs([1, 2]);
    },
  },
  {
    name: 'token-dies-away',
    should: 'notice at its start that its token died meanwhile, and register again',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      await scene.driver?.kill();
      scene.stage.token = null;
      scene.driver?.start();
      await scene.back(() => scene.stage.token !== null, 'did not register again');
      await scene.opened('did not come back');
    },
  },
  {
    name: 'token-dies-twice',
    should: 'stop when its token dies again: another device uses the same HWID',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.killToken();
      await scene.back(() => scene.stage.token !== null, 'did not register again');
      await scene.opened('did not come back');
      scene.stage.killToken();
      const isTold = () => scene.driver?.states.includes('refused') === true;
      await scene.expect(isTold, 10, 'did not tell its user');
      await scene.rests('took the HWID from the other device again');
    },
  },
  {
    name: 'replaced',
    should: 'not come back after 4002: another stream of the device is in use',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.close(4002, 'another stream was opened with the token');
      await scene.expect(() => !scene.stage.isOpen, 10, 'held the stream');
      await scene.rests('came back and took the stream from the other one');
    },
  },
  {
    name: 'refused',
    should: 'stop and tell its user when the server refuses the registration',
    needsDriver: true,
    async play(scene) {
      scene.stage.script.register = () => Response.json({ rc: 0, msg: 'Install disabled' });
      scene.driver?.start();
      const isTold = () => scene.driver?.states.includes('refused') === true;
      await scene.expect(isTold, 30, 'did not tell its user');
      await scene.rests('registered again');
    },
  },
  {
    name: 'push-address',
    should: 'register again, with its token, when the network gives another push address',
    needsDriver: true,
    async play(scene) {
      await scene.begin({ push: { gateway: 'fcm', token: 'first-token' } });
      const isSaid = (token: string) => () =>
        scene.stage
          .of('register')
          .some(({ body }) => JSON.stringify(body['push'])?.includes(token));
      scene.check(isSaid('first-token')(), 'registered without its push address');
      // Each time, the stream of the old token ends with it: no other device took the HWID.
      for (const token of ['second-token', 'third-token', 'fourth-token']) {
        scene.driver?.say({ do: 'push_token', gateway: 'fcm', token });
        await scene.back(isSaid(token), `did not register the new push address ${token}`);
        const last = scene.stage.of('register').at(-1);
        scene.check(last?.token !== null, 'registered without its token');
        await scene.opened('did not come back with its new token');
      }
    },
  },
  {
    name: 'headers',
    should: 'name itself by the HWID that it registered where it fetches a subscription',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.driver?.say({ do: 'headers' });
      await scene.expect(() => scene.driver?.headers !== null, 10, 'has no headers');
      const named = scene.driver?.headers?.['x-hwid'];
      const hwid = scene.stage.of('register')[0]?.body['hwid'];
      scene.check(named === hwid, `says x-hwid: ${named}`);
    },
  },
  {
    name: 'ping',
    should: 'ask for the pause between pings that its user chose',
    needsDriver: true,
    async play(scene) {
      await scene.begin({ ping: 300 });
      const asked = scene.stage.of('stream')[0]?.query.get('ping');
      scene.check(asked === '300', `asked for ping=${asked}`);
    },
  },
];
