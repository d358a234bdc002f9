import { baseUrl, contactUrl, text, yesOrNo } from '../readers.ts';
import { setting } from '../setting.ts';

export const gatewaySettings = {
  gatewayCarryMessages: setting({
    key: 'gateway.carry_messages',
    env: 'GATEPOST_GATEWAY_CARRY_MESSAGES',
    // Data to import and settings are nobody's business but the device's.
    default: 'false',
    types: ['boolean'],
    read: yesOrNo,
    about: [
      'Whether the whole message, data to import and settings too, travels through the gateway if',
      'it fits. With `false` a command makes the app fetch its inbox, and nothing else travels.',
    ],
    isLive: true,
  }),
  fcmServiceAccount: setting({
    key: 'gateway.fcm.service_account',
    env: 'GATEPOST_GATEWAY_FCM_SERVICE_ACCOUNT',
    default: '',
    read: text,
    about: [
      'The file with the key of a service account that Firebase gave out (JSON, mode 0600).',
      'With it pushes go through FCM. Empty: they do not.',
    ],
    isLive: true,
  }),
  fcmEndpoint: setting({
    key: 'gateway.fcm.endpoint',
    env: 'GATEPOST_GATEWAY_FCM_ENDPOINT',
    default: 'https://fcm.googleapis.com',
    read: baseUrl,
    about: ['Where FCM answers. The address for access tokens is in the service account.'],
    isLive: true,
  }),
  fcmChannelId: setting({
    key: 'gateway.fcm.channel_id',
    env: 'GATEPOST_GATEWAY_FCM_CHANNEL_ID',
    default: '',
    read: text,
    about: [
      'The notification channel of the Android app in which notifications appear. The app makes it;',
      'one that it did not make is passed over. Empty: the channel that its manifest names.',
    ],
    isLive: true,
  }),
  apnsKeyFile: setting({
    key: 'gateway.apns.key_file',
    env: 'GATEPOST_GATEWAY_APNS_KEY_FILE',
    default: '',
    read: text,
    about: [
      'The file with the signing key that Apple gave out (`AuthKey_ID.p8`, mode 0600).',
      'With it pushes go through APNs. Empty: they do not.',
    ],
    isLive: true,
  }),
  apnsKeyId: setting({
    key: 'gateway.apns.key_id',
    env: 'GATEPOST_GATEWAY_APNS_KEY_ID',
    default: '',
    read: text,
    about: ['The id of that key, ten letters and digits.'],
    isLive: true,
  }),
  apnsTeamId: setting({
    key: 'gateway.apns.team_id',
    env: 'GATEPOST_GATEWAY_APNS_TEAM_ID',
    default: '',
    read: text,
    about: ['The id of the team that the key belongs to, ten letters and digits.'],
    isLive: true,
  }),
  apnsTopic: setting({
    key: 'gateway.apns.topic',
    env: 'GATEPOST_GATEWAY_APNS_TOPIC',
    default: '',
    read: text,
    about: ['The bundle id of the app, such as `com.example.app`.'],
    isLive: true,
  }),
  apnsSandbox: setting({
    key: 'gateway.apns.sandbox',
    env: 'GATEPOST_GATEWAY_APNS_SANDBOX',
    default: 'false',
    types: ['boolean'],
    read: yesOrNo,
    about: ['Whether the app is a development build, whose tokens another server of Apple knows.'],
    isLive: true,
  }),
  apnsEndpoint: setting({
    key: 'gateway.apns.endpoint',
    env: 'GATEPOST_GATEWAY_APNS_ENDPOINT',
    default: '',
    read: (given: string) => (given === '' ? '' : baseUrl(given)),
    about: ['Where APNs answers. Empty: at Apple, as `gateway.apns.sandbox` says.'],
    isLive: true,
  }),
  webpushSubject: setting({
    key: 'gateway.webpush.subject',
    env: 'GATEPOST_GATEWAY_WEBPUSH_SUBJECT',
    default: '',
    read: contactUrl,
    about: [
      'Where push services reach the operator: `mailto:` with an address, or an `https` URL.',
      'With it pushes go by Web Push, UnifiedPush included. Empty: they do not.',
    ],
    isLive: true,
  }),
  webpushKeyFile: setting({
    key: 'gateway.webpush.key_file',
    env: 'GATEPOST_GATEWAY_WEBPUSH_KEY_FILE',
    default: '',
    read: text,
    about: [
      'The file with the VAPID key, made when it is first needed (mode 0600).',
      'Empty: `vapid.key` in the data directory. With another key every subscription is lost.',
    ],
    isLive: true,
  }),
} as const;
