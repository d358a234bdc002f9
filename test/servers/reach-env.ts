import type { StrictServers } from './strict-servers.ts';

/** Settings by which the executable speaks to the strict servers instead of to the real ones. */
export function reachEnv(servers: StrictServers): Record<string, string> {
  const { fcm, apns } = servers;
  return {
    GATEPOST_MONITOR_PORT: '0',
    GATEPOST_OUTGOING_CA_FILE: servers.caFile,
    // Here the services of others are on this machine.
    GATEPOST_OUTGOING_ALLOW: '127.0.0.0/8',
    GATEPOST_GATEWAY_FCM_SERVICE_ACCOUNT: fcm.serviceAccountFile,
    GATEPOST_GATEWAY_FCM_ENDPOINT: servers.origin('fcm'),
    GATEPOST_GATEWAY_APNS_KEY_FILE: apns.keyFile,
    GATEPOST_GATEWAY_APNS_KEY_ID: apns.keyId,
    GATEPOST_GATEWAY_APNS_TEAM_ID: apns.teamId,
    GATEPOST_GATEWAY_APNS_TOPIC: apns.topic,
    GATEPOST_GATEWAY_APNS_ENDPOINT: servers.origin('apns'),
    GATEPOST_GATEWAY_WEBPUSH_SUBJECT: 'mailto:operator@example.com',
  };
}
