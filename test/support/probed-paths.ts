/** Paths that a prober asks for: of Gatepost, of panels, of other programs, and nonsense. */
export const PATHS = [
  ...['/', '//', '/docs', '/docs/', '/openapi.json', '/console', '/console/', '/console/app.js'],
  ...['/console/call/session.begin', '/console/live', '/my', '/my/', '/my?link=abc', '/my/news'],
  ...['/install', '/install?id=1', '/provider', '/provider?id=1', '/gate', '/gate?uri=/sub/a'],
  ...['/device/register', '/device/stream', '/device/inbox', '/api', '/api/list-install'],
  ...['/api/add-install?provider_code=A', '/api/no-such', '/remote/no-such', '/healthz', '/readyz'],
  ...['/metrics', '/sub', '/sub/', '/sub/unknown-key', '/sub/unknown-key/clash', '/sub/%61%62'],
  ...['/sub/..%2f', '/sub/../my', '/sub/unknown-key?installid=AAAAAAAAAAAA', '/json/unknown-key'],
  ...['/dashboard/', '/panel/', '/login', '/xui', '/wp-login.php', '/.git/config', '/.env'],
  ...['/favicon.ico', '/robots.txt', '/index.html', '/cgi-bin/test', '/?a=%FF', '/%00', '/%ff'],
  ...['/\u00e4', `/${'a'.repeat(4_000)}`],
];
