import { baseUrl, boolean, contactUrl, text } from '../readers.ts';
import { live } from '../setting.ts';

export const gatewaySettings = {
  // Imported data and settings are private to the device.
  gatewayCarryMessages: live('gateway.carry_messages', 'false', boolean, [
    'Whether pushes carry the whole message, data to import and settings included, if it fits.',
    'With `false` the push of a command only makes the app fetch its inbox.',
  ]),
  fcmServiceAccount: live('gateway.fcm.service_account', '', text, [
    'The file with the key of a Firebase service account (JSON, mode 0600).',
    'It enables pushes through FCM. Empty: none.',
  ]),
  fcmEndpoint: live('gateway.fcm.endpoint', 'https://fcm.googleapis.com', baseUrl, [
    'The base URL of FCM. The URL for access tokens is in the service account.',
  ]),
  fcmChannelId: live('gateway.fcm.channel_id', '', text, [
    'The notification channel of the Android app. The app creates it; Android ignores a channel',
    'that does not exist. Empty: the channel that the manifest of the app names.',
  ]),
  apnsKeyFile: live('gateway.apns.key_file', '', text, [
    'The file with the signing key from Apple (`AuthKey_ID.p8`, mode 0600).',
    'It enables pushes through APNs. Empty: none.',
  ]),
  apnsKeyId: live('gateway.apns.key_id', '', text, ['The id of that key, ten letters and digits.']),
  apnsTeamId: live('gateway.apns.team_id', '', text, [
    'The id of the team that the key belongs to, ten letters and digits.',
  ]),
  apnsTopic: live('gateway.apns.topic', '', text, [
    'The bundle id of the app, such as `com.example.app`.',
  ]),
  apnsSandbox: live('gateway.apns.sandbox', 'false', boolean, [
    'Whether the app is a development build: its tokens belong to the sandbox of APNs.',
  ]),
  apnsEndpoint: live(
    'gateway.apns.endpoint',
    '',
    (given: string) => (given === '' ? '' : baseUrl(given)),
    ["The base URL of APNs. Empty: Apple's, by `gateway.apns.sandbox`."],
  ),
  webpushSubject: live('gateway.webpush.subject', '', contactUrl, [
    'Where push services reach the operator: `mailto:` with an address, or an `https` URL.',
    'It enables Web Push, UnifiedPush included. Empty: none.',
  ]),
  webpushKeyFile: live('gateway.webpush.key_file', '', text, [
    'The file with the VAPID key, created at its first use (mode 0600).',
    'Empty: `vapid.key` in the data directory. Another key invalidates every subscription.',
  ]),
} as const;
