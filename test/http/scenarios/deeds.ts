/**
 * What the audit log gets of each scenario, by its name: one line for each entry, as `deedOf`
 * writes it. A scenario that is not here leaves none: refusals, repeats, lists, and what devices
 * do.
 */

import { HASH } from './scenario.ts';

/** SHA-256 of the HWID `a`. */
const HWID_A = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
const HWID_B = '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d';

type Deeds = Readonly<Record<string, readonly string[]>>;

const BARRED = 'cb23569b11a45d3e4090613f8c9fae15f03969ca3410248e947cb92d905a669a';
const LIFTED = `bar.lift {"install_id":1,"barred_sha256":"${BARRED}"}`;

export const DEEDS: Readonly<Record<string, Deeds>> = {
  '/api/add-install': {
    'a code and a note of its own': ['install.add {"id":1,"install_limit":100}'],
    ...Object.fromEntries(
      ['aB3dE5g7', 'abcdefg1', 'ABCDefgh', '1234567a', 'aB3dE5g7hJ9'].map((code) => [
        `with short_codes the code ${code}`,
        ['install.add {"id":1,"install_limit":2}'],
      ]),
    ),
    'a policy and a subscription key of its own': [
      'install.add {"id":1,"install_limit":100,"inactive_days":30,"when_full":"replace-oldest","cool_down_hours":48,"enforce":0,"without_hwid":"count","same_phone":"replace","when_new":"refuse","subscription_key":"set"}',
    ],
    'buttons of its own': [
      'install.add {"id":1,"install_limit":100,"support_url":"tg://resolve?domain=a","web_page_url":"https://example.com/"}',
    ],
    'default, and empty, are nothing of its own': ['install.add {"id":1,"install_limit":100}'],
    'a subscription key that another provider has': [
      'install.add {"id":2,"install_limit":1,"subscription_key":"set"}',
    ],
  },
  '/api/update-install': {
    'a limit below the HWIDs on the link, as they leave': [
      'install.update {"id":1} {"install_limit":[2,1]}',
    ],
    'all fields together': [
      'install.update {"id":1} {"install_limit":[2,100],"status":[10,5],"note":"changed"}',
    ],
    buttons: [
      'install.update {"id":1} {"support_url":[null,"tg://resolve?domain=a"],"web_page_url":[null,"https://example.com/"]}',
    ],
    'default for a button: that of the provider again': [
      'install.update {"id":1} {"support_url":["tg://resolve?domain=a",null]}',
    ],
    'a policy and a subscription key': [
      'install.update {"id":1} {"inactive_days":[null,30],"when_full":[null,"replace-oldest"],"cool_down_hours":[null,48],"enforce":[null,0],"without_hwid":[null,"count"],"same_phone":[null,"replace"],"when_new":[null,"refuse"],"subscription_key":"changed"}',
    ],
    'default for each of them: nothing of its own any more': [
      'install.update {"id":1} {"inactive_days":[30,null],"when_full":["replace-oldest",null],"cool_down_hours":[48,null],"enforce":[0,null],"without_hwid":["count",null],"same_phone":["replace",null],"when_new":["refuse",null],"subscription_key":"changed"}',
    ],
    'never is a policy of its own; what is empty stays': [
      'install.update {"id":1} {"inactive_days":[30,0]}',
    ],
    'a disabled link made active again': ['install.update {"id":1} {"status":[5,10]}'],
    'an empty note: cleared': ['install.update {"id":1} {"note":"changed"}'],
    'a limit equal to the HWIDs on the link': ['install.update {"id":1} {"install_limit":[2,1]}'],
  },
  '/api/policy': {
    'all parts of it': [
      'provider.set {} {"inactive_days":[null,30],"when_full":[null,"replace-oldest"],"cool_down_hours":[null,48],"enforce":[null,0],"without_hwid":[null,"count"],"same_phone":[null,"ask"],"same_phone_hours":[null,12],"copied_hwid":[null,"count"],"when_new":[null,"refuse"]}',
    ],
    'one part of it': ['provider.set {} {"without_hwid":[null,"pass"]}'],
    'default is that of the appliance; what is empty stays': [
      'provider.set {} {"enforce":[0,null]}',
    ],
    'what rides, and the buttons': [
      `provider.set {} {"ride":[null,"off"],"ride_desktop":[null,1],"buttons":[null,"always"],"discovery":[null,"on"],"support_url":[null,"tg://resolve?domain=a"],"web_page_url":[null,"https://example.com:8443/${'x'.repeat(230)}"]}`,
    ],
    'what rides, back to what it was': [
      `provider.set {} {"ride":["off",null],"ride_desktop":[1,null],"buttons":["always",null],"discovery":["on",null],"support_url":["tg://resolve?domain=a",null],"web_page_url":["https://example.com:8443/${'x'.repeat(230)}",null]}`,
    ],
    'what the bot is answered': ['provider.set {} {"rc2_body":[null,"on"],"short_codes":[null,1]}'],
    'the page of users': [
      'provider.set {} {"page":[null,"on"],"page_color":[null,"#0f766e"],"page_name":"changed"}',
    ],
    'the page of users, off and without a name': [
      'provider.set {} {"page":["on",null],"page_color":["#0f766e",null],"page_name":"changed"}',
    ],
  },
  '/api/free-slots': {
    'by install_code: all slots are free': ['install.free {"id":1,"hwids":2}'],
    'by install_id: all slots are free': ['install.free {"id":1,"hwids":2}'],
  },
  '/api/tie-keys': {
    'a tie that waits, and one that does not exist': [
      'install.update {"id":1} {"subscription_key":"changed"}',
      'install.tie {"id":1}',
    ],
  },
  '/api/cancel-cut': {
    'one that waits': ['cut.cancel {"install_id":1,"cut":1}'],
  },
  '/api/lift-bar': {
    'by the HWID in another spelling': [LIFTED],
    'by its hash': [LIFTED],
  },
  '/api/untie-keys': {
    'a tie that was made': [
      'install.update {"id":1} {"subscription_key":"changed"}',
      'install.untie {"id":1}',
    ],
  },
  '/api/set-keys': {
    'a link gets the key, another one has none of it': [
      'install.update {"id":1} {"subscription_key":"changed"}',
    ],
  },
  '/api/revoke-install': {
    'a link with HWIDs and a key: another code, and neither': [
      'install.revoke {"id":1,"hwids":2,"subscription_key":"removed"}',
    ],
    'a link with neither': ['install.revoke {"id":1,"hwids":0}'],
  },
  '/api/remove-install': {
    'the link is gone, the devices stay known': ['install.remove {"id":1,"hwids":2}'],
  },
  '/api/add-hwid': {
    'some, by code: each counts from now on, and no device is made': [
      `hwid.name {"install_id":1,"hwids":2,"hwid_sha256":"${HWID_A} ${HWID_B}"}`,
    ],
  },
  '/api/delete-hwid': {
    'a named HWID: its place is free': [`hwid.delete {"install_id":1,"hwid_sha256":"${HWID_A}"}`],
    'with cut_off: a link that no panel can cut off is freed and barred': [
      `hwid.delete {"install_id":1,"hwid_sha256":"${Bun.SHA256.hash('hwid-1', 'hex')}"}`,
      `cut.ask {"install_id":1,"cut":1,"state":"impossible","barred_sha256":"${BARRED}"}`,
    ],
    'by code: the slot is free, the device stays known': [
      `hwid.delete {"install_id":1,"hwid_sha256":"${HWID_A}"}`,
    ],
    'by id: only from that link': [`hwid.delete {"install_id":2,"hwid_sha256":"${HWID_A}"}`],
  },
  '/api/add-domain': {
    'a new hash': [`domain.add {"id":1,"domain_hash":"${HASH}"}`],
    'a hash that another provider has bound: none of the two learns of it': [
      `domain.add {"id":2,"domain_hash":"${HASH}"}`,
    ],
    'a hash bound and active, with a name: renamed': [
      'domain.rename {"id":1} {"domain_name":"changed"}',
    ],
    'a hash bound and disabled: active again under its old id': [
      'domain.activate {"id":1} {"status":[5,10]}',
    ],
    'a hash bound and disabled, with a name': [
      'domain.activate {"id":1} {"domain_name":"changed","status":[5,10]}',
    ],
  },
  '/api/delete-domain': {
    'an active binding: disabled, not gone': ['domain.delete {"id":1} {"status":[10,5]}'],
  },
  '/remote/notification': {
    'the minimal body': ['notification.send {"id":1,"os":"android"}'],
    'every field': [
      'notification.send {"id":1,"os":"ios,android","due":"2026-11-20T21:00:00.000Z"}',
    ],
    'numbers and lists as forms send them': ['notification.send {"id":1,"os":"ios,android"}'],
    'to one HWID: that is not general': ['notification.send {"id":1,"hwids":1}'],
    'to HWIDs with blanks and repeats, with an os that is not looked at': [
      'notification.send {"id":1,"hwids":1}',
    ],
    'the minute that is running now means now': ['notification.send {"id":1,"os":"android"}'],
    'to a device linked by a binding': ['notification.send {"id":1,"hwids":1}'],
    'five minutes after the last one': ['notification.send {"id":2,"os":"android"}'],
    'to a HWID right after a general one': ['notification.send {"id":2,"hwids":1}'],
    'a correction of one a minute ago': ['notification.send {"id":2,"os":"android","replaces":1}'],
    'the same, with the id in the body': ['notification.send {"id":2,"os":"android","replaces":1}'],
  },
  '/remote/command': {
    'to an operating system': [
      'command.send {"id":1,"action_type":"update-subscription","os":"android"}',
    ],
    'on the Enterprise plan': [
      'command.send {"id":1,"action_type":"update-subscription","os":"android"}',
    ],
    'to an operating system that no device has: it is looked up at delivery': [
      'command.send {"id":1,"action_type":"update-subscription","os":"ios"}',
    ],
    'as one panel sends it: settings and hwid, both empty': [
      'command.send {"id":1,"action_type":"update-subscription","os":"android"}',
    ],
    'the toggle spelt with hyphens': [
      'command.send {"id":1,"action_type":"update-subscription","hwids":1}',
    ],
    'the toggle as a text': ['command.send {"id":1,"action_type":"update-subscription","hwids":1}'],
    'the toggle as a number': [
      'command.send {"id":1,"action_type":"update-subscription","os":"android"}',
    ],
    'no toggle but a HWID': ['command.send {"id":1,"action_type":"update-subscription","hwids":1}'],
    'no toggle but an os': [
      'command.send {"id":1,"action_type":"update-subscription","os":"android"}',
    ],
    'the toggle off: a hwid that nobody knows is not looked at': [
      'command.send {"id":1,"action_type":"update-subscription","os":"android"}',
    ],
    settings: ['command.send {"id":1,"action_type":"set-settings","os":"android"}'],
    'settings with an odd key': [
      'command.send {"id":1,"action_type":"set-settings","os":"android"}',
    ],
    'another domain with a port': [
      'command.send {"id":1,"action_type":"sub-change","os":"android"}',
    ],
    'settings with an odd value of a newer key': [
      'command.send {"id":1,"action_type":"set-settings","os":"android"}',
    ],
    'settings as a text': ['command.send {"id":1,"action_type":"set-settings","os":"android"}'],
    'another domain': ['command.send {"id":1,"action_type":"sub-change","os":"android"}'],
    'another address': ['command.send {"id":1,"action_type":"sub-change","os":"android"}'],
    scheduled: [
      'command.send {"id":1,"action_type":"update-subscription","os":"android","due":"2026-11-20T12:01:00.000Z"}',
    ],
    'data to import, with line breaks': [
      'command.send {"id":1,"action_type":"import-data","hwids":1}',
    ],
    'data to import for an unbound device': [
      'command.send {"id":1,"action_type":"import-data","hwids":1,"unbound":1}',
    ],
    'to an unbound device a day after the last of ten': [
      'command.send {"id":3,"action_type":"import-data","hwids":1,"unbound":1}',
    ],
    'to a linked device when the quota of unbound ones is used up': [
      'command.send {"id":3,"action_type":"import-data","hwids":1}',
    ],
  },
  '/remote/cancel': {
    'exactly ten minutes before': ['distribution.cancel {"id":1} {"status":[10,130]}'],
    'one that was checked and waits': ['distribution.cancel {"id":1} {"status":[30,130]}'],
    'on the basic plan: it needs none': ['distribution.cancel {"id":1} {"status":[10,130]}'],
  },
  '/api/webhook-add': {
    'a URL alone: all events, signed by HMAC': [
      'webhook.add {"id":1,"kind":"webhook","events":"all"}',
    ],
    'a URL with Ed25519, for two kinds of events': [
      'webhook.add {"id":1,"kind":"webhook","events":"link.full,device.admitted"}',
    ],
    'a Telegram chat: its token is never shown': [
      'webhook.add {"id":1,"kind":"telegram","events":"all"}',
    ],
  },
  '/api/webhook-update': {
    'another URL': ['webhook.update {"id":1} {"address":"changed"}'],
    'kinds of events': ['webhook.update {"id":1} {"events":["all","link.full"]}'],
    disabled: ['webhook.update {"id":1} {"enabled":[true,false]}'],
    'enabled again': ['webhook.update {"id":1} {"enabled":[false,true]}'],
    'another chat and another language': [
      'webhook.update {"id":1} {"locale":["fa","zh"],"address":"changed"}',
    ],
  },
  '/api/webhook-rotate': {
    'a new secret: the old one signs for a day': [
      'webhook.rotate {"id":1,"old_secret_until":"2026-11-21T12:00:00.000Z"}',
    ],
    'a new secret: the old one is dead at once': [
      'webhook.rotate {"id":1,"old_secret_until":null}',
    ],
    'another bot of a chat': ['webhook.rotate {"id":1,"old_secret_until":null}'],
  },
  '/api/reminder-add': {
    'one that is switched off': [
      'reminder.add {"id":1,"kind":"before_end","amount":72,"push_text":"neutral","enabled":0}',
    ],
    'one that is switched on, with which figures begin': [
      'reminder.add {"id":1,"kind":"before_end","amount":72,"push_text":"full","enabled":1}',
      'provider.set {} {"subscription_figures":[null,"on"]}',
    ],
  },
  '/api/reminder-set': {
    'another amount': ['reminder.set {"id":1,"kind":"traffic"} {"amount":[80,90]}'],
    'another text, which waits': ['reminder.set {"id":1,"kind":"traffic"} {"texts":"changed"}'],
  },
  '/api/reminder-remove': {
    'a reminder': ['reminder.remove {"id":1,"kind":"traffic","amount":80}'],
  },
  '/api/webhook-remove': {
    'a webhook with its queue': ['webhook.remove {"id":1}'],
  },
};
