import {
  array,
  hostList,
  integer,
  networks,
  notEmpty,
  oneOf,
  pageSource,
  socketPath,
  text,
  utcOffset,
} from '../readers.ts';
import { live, setting } from '../setting.ts';

export const serverSettings = {
  dataDir: setting('data', './data', notEmpty, [
    'The data directory.',
    'Flag `--data`, which every command takes.',
    'Without any the program of the package takes `/var/lib/gatepost`.',
  ]),
  // Open to the machine alone until the operator decides otherwise.
  host: setting('server.host', '127.0.0.1', notEmpty, [
    'The address to listen on; by default only this machine can call.',
    'Flag `--host` of `serve`.',
  ]),
  port: setting('server.port', '8080', integer(0, 65_535), [
    'The port to listen on; 0 picks a free one.',
    'Flag `--port` of `serve`.',
  ]),
  socket: setting('server.socket', '', socketPath, [
    'The absolute path of a Unix socket to listen on too, for proxies on this machine: who can',
    'connect there counts as a trusted proxy and as one of `gate.proxies`. Empty: none.',
  ]),
  socketMode: setting('server.socket_mode', '0660', oneOf('0600', '0660'), [
    'The mode of that socket.',
  ]),
  // A service may give its files no group: its folder does, by the setgid bit.
  socketGroup: setting('server.socket_group', '', text, [
    'The name of the group of that socket, with the user of the proxy. Empty: as its folder or the',
    'process has it.',
  ]),
  // A single server has no other that would answer in its place.
  drainSeconds: live('server.drain_seconds', '0', integer(0, 300), [
    'Seconds after the order to stop in which requests are still served, while `/readyz` answers',
    '503, so that a load balancer notices. A second order ends them.',
  ]),
  // The zone of send_date and send_time, so that a provider can compare them.
  outputOffsetMinutes: live('server.output_zone', '+03:00', utcOffset, [
    'The zone of the times in answers, as an offset from UTC.',
    'The default is the zone of the dates in the API.',
  ]),
  // Any client can send X-Forwarded-For.
  trustedProxies: live('server.trusted_proxies', '', array(networks), [
    'Networks whose `X-Forwarded-For` is trusted; see also `gate.proxies`.',
  ]),
  // An installation that has nothing set answers as it did before; a new one sets it.
  strangers: {
    ...live('server.strangers', 'answer', oneOf('answer', 'quiet'), [
      'What an unknown path, host or key gets. `quiet`: all of them get one answer, which says',
      'nothing of Gatepost: `server.stranger_page`. `answer`: an answer that says what is wrong.',
    ]),
    fresh: 'quiet',
  },
  strangerPage: live('server.stranger_page', '', pageSource, [
    'That answer. A file: its bytes with the status 404. An http or https address: its answer, which',
    'is fetched once a minute. Empty, or while the address does not answer: an empty 404.',
  ]),
  ownHosts: live('server.hosts', '', array(hostList), [
    'With `server.strangers = "quiet"` the hosts by which bots, apps and people reach Gatepost',
    'itself: the API, the console, `/docs`, `/my`. Empty: every host that is not of a panel.',
  ]),
} as const;
