-- A database as Gatepost 0.17.0 left it in front of all five panels, dumped: see
-- test/support/installed-0-17.ts. Users were imported, then devices came. Never edited.
BEGIN TRANSACTION;
CREATE TABLE `device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hwid` text NOT NULL,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL
, `holder_count` integer DEFAULT 0 NOT NULL);
INSERT INTO device VALUES(1,'phone','','','','','',1741064834000,1795846025135,5);
INSERT INTO device VALUES(2,'tablet','','','','','',1741064834000,1795846025105,5);
INSERT INTO device VALUES(5,'null','','','','','',1795846024832,1795846025114,5);
INSERT INTO device VALUES(6,'x','','','','','',1795846024844,1795846025124,5);
INSERT INTO device VALUES(7,'laptop','','','','','',1795846025151,1795846025151,1);
CREATE TABLE `distribution` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`notification_type` integer NOT NULL,
	`status` integer NOT NULL,
	`target_os` text,
	`target_hwid` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	"reaches_unbound" integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`began_at_ms` integer,
	`finished_at_ms` integer,
	`lease_owner` text,
	`lease_until_ms` integer,
	`cursor_source` integer DEFAULT 0 NOT NULL,
	`cursor_id` integer DEFAULT 0 NOT NULL,
	`unbound_count` integer DEFAULT 0 NOT NULL,
	`recipient_count` integer DEFAULT 0 NOT NULL,
	`sent_count` integer DEFAULT 0 NOT NULL,
	`failed_count` integer DEFAULT 0 NOT NULL,
	`expired_at_ms` integer,
	`pruned_at_ms` integer,
	`payload` text NOT NULL, `handed_over_at_ms` integer, `push_waiting_count` integer DEFAULT 0 NOT NULL, `replaces_id` integer,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "distribution_type" CHECK("distribution"."notification_type" IN (10, 20)),
	CONSTRAINT "distribution_status" CHECK("distribution"."status" IN (5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140))
);
CREATE TABLE `distribution_transition` (
	`from_status` integer NOT NULL,
	`to_status` integer NOT NULL,
	PRIMARY KEY(`from_status`, `to_status`)
);
INSERT INTO distribution_transition VALUES(10,20);
INSERT INTO distribution_transition VALUES(10,130);
INSERT INTO distribution_transition VALUES(10,140);
INSERT INTO distribution_transition VALUES(20,30);
INSERT INTO distribution_transition VALUES(20,5);
INSERT INTO distribution_transition VALUES(20,130);
INSERT INTO distribution_transition VALUES(20,140);
INSERT INTO distribution_transition VALUES(30,20);
INSERT INTO distribution_transition VALUES(30,130);
INSERT INTO distribution_transition VALUES(30,140);
INSERT INTO distribution_transition VALUES(5,6);
INSERT INTO distribution_transition VALUES(5,40);
INSERT INTO distribution_transition VALUES(5,140);
INSERT INTO distribution_transition VALUES(6,40);
INSERT INTO distribution_transition VALUES(6,140);
INSERT INTO distribution_transition VALUES(40,100);
INSERT INTO distribution_transition VALUES(40,110);
INSERT INTO distribution_transition VALUES(40,120);
INSERT INTO distribution_transition VALUES(40,140);
CREATE TABLE `domain` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`domain_hash` text NOT NULL,
	`domain_name` text NOT NULL,
	`status` integer NOT NULL,
	`created_at_ms` integer NOT NULL, `ride_version` integer DEFAULT 0 NOT NULL, `ride_until_ms` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "domain_status" CHECK("domain"."status" IN (5, 10))
);
INSERT INTO domain VALUES(1,1,'68483f8c3d5d4403d9ea4aa7af0514805dc3c776a45f9f93790f20318005fd75','remnawave.example.com',10,1795846024393,0,0);
INSERT INTO domain VALUES(2,2,'5932d29e6258d3972df88e0bbb43085aafdfce0796cf9918915fcc69439e098e','xui.example.com',10,1795846024406,0,0);
INSERT INTO domain VALUES(3,3,'a8201af47580bc7efa9e909047adf1998e3a78874f453aae08c363cfe5f55bd8','pasarguard.example.com',10,1795846024409,0,0);
INSERT INTO domain VALUES(4,4,'7847fd7dae4ff6903bc47a29f987e8d5ee3fd9b3f20655c36bcb37edbbf95a88','marzban.example.com',10,1795846024414,0,0);
INSERT INTO domain VALUES(5,5,'56b6164bf7e19213baab7040161cbf801581b3ce1a7ea1eff353437c6f03528d','hiddify.example.com',10,1795846024415,0,0);
CREATE TABLE `provider` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`code` text NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`key_hash` blob NOT NULL,
	`previous_key_hash` blob,
	`previous_key_until_ms` integer,
	`active_until_ms` integer,
	`suspended_at_ms` integer,
	`install_count_max` integer,
	`last_general_at_ms` integer,
	`install_count` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL, `domain_count` integer DEFAULT 0 NOT NULL, `kept_bytes` integer DEFAULT 0 NOT NULL, `ledger_count` integer DEFAULT 0 NOT NULL, `sends_from_ms` integer DEFAULT 0 NOT NULL, `send_count` integer DEFAULT 0 NOT NULL, `changes_from_ms` integer DEFAULT 0 NOT NULL, `change_count` integer DEFAULT 0 NOT NULL, `unlisted_count` integer DEFAULT 0 NOT NULL, `inactive_days` integer, `when_full` text, `cool_down_hours` integer, `slot_end_count` integer DEFAULT 0 NOT NULL, `enforce` integer, `without_hwid` text, `tombstone_count` integer DEFAULT 0 NOT NULL, `idempotent_count` integer DEFAULT 0 NOT NULL, `ride` text, `ride_desktop` integer DEFAULT 0 NOT NULL, `support_url` text, `web_page_url` text, `buttons` text, `ride_version` integer DEFAULT 0 NOT NULL, `ride_until_ms` integer DEFAULT 0 NOT NULL, `my` integer DEFAULT 0 NOT NULL, `my_name` text, `my_color` text, `same_phone` text,
	CONSTRAINT "provider_plan" CHECK("provider"."plan" IN ('basic', 'pro', 'enterprise')),
	CONSTRAINT "provider_key_hash" CHECK(length("provider"."key_hash") = 32)
);
INSERT INTO provider VALUES(1,'SHOPREMN','remnawave','enterprise',X'70200d1e58aea8007728ab9250cf0d4ed3ed84f590f6347ab90144e8d06cd4b2',NULL,NULL,NULL,NULL,NULL,NULL,4,1795846022110,1,0,0,0,0,0,0,0,NULL,NULL,NULL,0,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL);
INSERT INTO provider VALUES(2,'SHOPXUI1','3x-ui','enterprise',X'80baba4b3511b6a63b8f841f2f29976288e647ec111f702905bc8b2114705641',NULL,NULL,NULL,NULL,NULL,NULL,4,1795846022545,1,0,0,0,0,0,0,0,NULL,NULL,NULL,0,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL);
INSERT INTO provider VALUES(3,'SHOPPASA','pasarguard','enterprise',X'b5114c20fea16b531d3550309da79a59ed555c7c7ee46e3e6e181c0b0e595bf4',NULL,NULL,NULL,NULL,NULL,NULL,4,1795846022896,1,0,0,0,0,0,0,0,NULL,NULL,NULL,0,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL);
INSERT INTO provider VALUES(4,'SHOPMARZ','marzban','enterprise',X'cc582a2f56900d949415eafbeceeb1bf40d116d046528f95ad76806aee053f4f',NULL,NULL,NULL,NULL,NULL,NULL,4,1795846023459,1,0,0,0,0,0,0,0,NULL,NULL,NULL,0,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL);
INSERT INTO provider VALUES(5,'SHOPHIDD','hiddify','enterprise',X'6311608a8c4204397f3fd332e5c43e21f01f5139d248f1681e65101b330b60d2',NULL,NULL,NULL,NULL,NULL,NULL,5,1795846023925,1,0,0,0,0,0,0,0,NULL,NULL,NULL,0,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,0,0,0,NULL,NULL,NULL);
CREATE TABLE `audit` (
	`last_number` integer PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL,
	`prev_hash` blob NOT NULL,
	`hash` blob NOT NULL,
	`entries` text NOT NULL,
	CONSTRAINT "audit_hashes" CHECK(length("audit"."prev_hash") = 32 AND length("audit"."hash") = 32)
);
INSERT INTO audit VALUES(1,1795846022110,X'0000000000000000000000000000000000000000000000000000000000000000',X'b23055e5379185b7416a66d6358b0f89803c4e3b2092f070b3cf92e65fd5b060','[{"at":"2026-11-28T06:07:02.110Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"SHOPREMN","object":{"key":"70200d1e","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(4,1795846022431,X'b23055e5379185b7416a66d6358b0f89803c4e3b2092f070b3cf92e65fd5b060',X'b17447234bd0bfc7f9785877b55c50c4e01e10ab8682a6e985cf5767dc833400','[{"at":"2026-11-28T06:07:02.431Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPREMN","object":{"id":1,"install_limit":2,"subscription_key":"set","hwids":2}},{"at":"2026-11-28T06:07:02.431Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPREMN","object":{"id":2,"install_limit":2,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:02.431Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPREMN","object":{"id":3,"install_limit":100,"subscription_key":"set","hwids":0}}]');
INSERT INTO audit VALUES(5,1795846022545,X'b17447234bd0bfc7f9785877b55c50c4e01e10ab8682a6e985cf5767dc833400',X'8e82681b926ce1e6151d1f73a0ea4dd3425e010b4344d201a24ba6659d33bef0','[{"at":"2026-11-28T06:07:02.545Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"SHOPXUI1","object":{"key":"80baba4b","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(8,1795846022748,X'8e82681b926ce1e6151d1f73a0ea4dd3425e010b4344d201a24ba6659d33bef0',X'b958423ab7bf7403db92296d830b761a13442c72af7768f9af518e7f2942ce4e','[{"at":"2026-11-28T06:07:02.748Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPXUI1","object":{"id":4,"install_limit":2,"subscription_key":"set","hwids":2}},{"at":"2026-11-28T06:07:02.748Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPXUI1","object":{"id":5,"install_limit":2,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:02.748Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPXUI1","object":{"id":6,"install_limit":100,"subscription_key":"set","hwids":0}}]');
INSERT INTO audit VALUES(9,1795846022896,X'b958423ab7bf7403db92296d830b761a13442c72af7768f9af518e7f2942ce4e',X'3f0964d87b855b0c6bae2db73fbcbedd43cf910a1316af8fda934d9360a23369','[{"at":"2026-11-28T06:07:02.896Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"SHOPPASA","object":{"key":"b5114c20","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(12,1795846023254,X'3f0964d87b855b0c6bae2db73fbcbedd43cf910a1316af8fda934d9360a23369',X'11407d5f635de667a7b1942e94b9dd09dc1246592fe5863e39f554f5aa7b7f34','[{"at":"2026-11-28T06:07:03.254Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPPASA","object":{"id":7,"install_limit":2,"subscription_key":"set","hwids":2}},{"at":"2026-11-28T06:07:03.254Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPPASA","object":{"id":8,"install_limit":2,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:03.254Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPPASA","object":{"id":9,"install_limit":100,"subscription_key":"set","hwids":0}}]');
INSERT INTO audit VALUES(13,1795846023459,X'11407d5f635de667a7b1942e94b9dd09dc1246592fe5863e39f554f5aa7b7f34',X'a80e30978a8b061847e2b2351b3a3b57580ffe95649dd93437f722c9bfdfdeab','[{"at":"2026-11-28T06:07:03.459Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"SHOPMARZ","object":{"key":"cc582a2f","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(16,1795846023766,X'a80e30978a8b061847e2b2351b3a3b57580ffe95649dd93437f722c9bfdfdeab',X'517d05a9e0e017e6d30c60ba9381a366f88c3813175ab71bbcdb29a09ddd5438','[{"at":"2026-11-28T06:07:03.766Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPMARZ","object":{"id":10,"install_limit":100,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:03.766Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPMARZ","object":{"id":11,"install_limit":100,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:03.766Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPMARZ","object":{"id":12,"install_limit":100,"subscription_key":"set","hwids":0}}]');
INSERT INTO audit VALUES(17,1795846023925,X'517d05a9e0e017e6d30c60ba9381a366f88c3813175ab71bbcdb29a09ddd5438',X'bfaa45b3fe404f8a4896fefa5be8a00a376110db257530c91481b32e3ede6854','[{"at":"2026-11-28T06:07:03.925Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"SHOPHIDD","object":{"key":"6311608a","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(20,1795846024165,X'bfaa45b3fe404f8a4896fefa5be8a00a376110db257530c91481b32e3ede6854',X'5544638909ba9b66972adb62e7ce7bf886dda00daf2111edaccfcfb33f9af47b','[{"at":"2026-11-28T06:07:04.165Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPHIDD","object":{"id":13,"install_limit":100,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:04.165Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPHIDD","object":{"id":14,"install_limit":100,"subscription_key":"set","hwids":0}},{"at":"2026-11-28T06:07:04.165Z","who":"operator","name":"root","from":"local","action":"install.import","provider":"SHOPHIDD","object":{"id":15,"install_limit":100,"subscription_key":"set","hwids":0}}]');
INSERT INTO audit VALUES(21,1795846024393,X'5544638909ba9b66972adb62e7ce7bf886dda00daf2111edaccfcfb33f9af47b',X'6ece715396757381a195df42ee64bbeb230f8e101e3004e53400d815f9d283ac','[{"at":"2026-11-28T06:07:04.393Z","who":"system","name":"gatepost","from":"local","action":"domain.add","provider":"SHOPREMN","object":{"id":1,"domain_hash":"68483f8c3d5d4403d9ea4aa7af0514805dc3c776a45f9f93790f20318005fd75"}}]');
INSERT INTO audit VALUES(22,1795846024406,X'6ece715396757381a195df42ee64bbeb230f8e101e3004e53400d815f9d283ac',X'200c17f93e21f792caa0c015517fcafbac19cfd988b55e86a8c9a08ebd7a139a','[{"at":"2026-11-28T06:07:04.406Z","who":"system","name":"gatepost","from":"local","action":"domain.add","provider":"SHOPXUI1","object":{"id":2,"domain_hash":"5932d29e6258d3972df88e0bbb43085aafdfce0796cf9918915fcc69439e098e"}}]');
INSERT INTO audit VALUES(23,1795846024409,X'200c17f93e21f792caa0c015517fcafbac19cfd988b55e86a8c9a08ebd7a139a',X'123f0483b069a84b903d7bae61142495b73aa7218cf2c7fe9479260f4c74f767','[{"at":"2026-11-28T06:07:04.409Z","who":"system","name":"gatepost","from":"local","action":"domain.add","provider":"SHOPPASA","object":{"id":3,"domain_hash":"a8201af47580bc7efa9e909047adf1998e3a78874f453aae08c363cfe5f55bd8"}}]');
INSERT INTO audit VALUES(24,1795846024414,X'123f0483b069a84b903d7bae61142495b73aa7218cf2c7fe9479260f4c74f767',X'7e7b052789cd24573922d90cc4c45791c3d3862357f1d44d98c46fa47e801c2e','[{"at":"2026-11-28T06:07:04.414Z","who":"system","name":"gatepost","from":"local","action":"domain.add","provider":"SHOPMARZ","object":{"id":4,"domain_hash":"7847fd7dae4ff6903bc47a29f987e8d5ee3fd9b3f20655c36bcb37edbbf95a88"}}]');
INSERT INTO audit VALUES(25,1795846024415,X'7e7b052789cd24573922d90cc4c45791c3d3862357f1d44d98c46fa47e801c2e',X'bbdcced897a1d3a4945dee66aeca9ee62a3d746201b78852578066614e3fb69d','[{"at":"2026-11-28T06:07:04.415Z","who":"system","name":"gatepost","from":"local","action":"domain.add","provider":"SHOPHIDD","object":{"id":5,"domain_hash":"56b6164bf7e19213baab7040161cbf801581b3ce1a7ea1eff353437c6f03528d"}}]');
INSERT INTO audit VALUES(26,1795846024856,X'bbdcced897a1d3a4945dee66aeca9ee62a3d746201b78852578066614e3fb69d',X'e1cc7db0435bdfeee6e5322e46bcd7ffe381ce19c498456b76c89affadfcfcc3','[{"at":"2026-11-28T06:07:04.856Z","who":"system","name":"gatepost","from":"local","action":"install.add","provider":"SHOPREMN","object":{"id":16,"install_limit":2,"subscription_key":"set"}}]');
INSERT INTO audit VALUES(27,1795846024935,X'e1cc7db0435bdfeee6e5322e46bcd7ffe381ce19c498456b76c89affadfcfcc3',X'74ae4a14af59f1f4792ca1e0ec3df9f93f5b4ecefeb607195d7b12dd82be51f2','[{"at":"2026-11-28T06:07:04.935Z","who":"system","name":"gatepost","from":"local","action":"install.add","provider":"SHOPXUI1","object":{"id":17,"install_limit":2,"subscription_key":"set"}}]');
INSERT INTO audit VALUES(28,1795846025016,X'74ae4a14af59f1f4792ca1e0ec3df9f93f5b4ecefeb607195d7b12dd82be51f2',X'8a888163b6e110349ce0d406e8ba542a9e13541dcfe7d3182ebb3cc74ce6b8e9','[{"at":"2026-11-28T06:07:05.016Z","who":"system","name":"gatepost","from":"local","action":"install.add","provider":"SHOPPASA","object":{"id":18,"install_limit":2,"subscription_key":"set"}}]');
INSERT INTO audit VALUES(29,1795846025089,X'8a888163b6e110349ce0d406e8ba542a9e13541dcfe7d3182ebb3cc74ce6b8e9',X'777c9436ef7be8e9fc592521e0108b60f6c4f47b495f455571d4af9ffa20e534','[{"at":"2026-11-28T06:07:05.089Z","who":"system","name":"gatepost","from":"local","action":"install.add","provider":"SHOPMARZ","object":{"id":19,"install_limit":2,"subscription_key":"set"}}]');
INSERT INTO audit VALUES(30,1795846025135,X'777c9436ef7be8e9fc592521e0108b60f6c4f47b495f455571d4af9ffa20e534',X'c46ebac7e650f1d5ad0850881c29d0059a10d0e25f9f2a117c6fade0ce70fc89','[{"at":"2026-11-28T06:07:05.135Z","who":"system","name":"gatepost","from":"local","action":"install.add","provider":"SHOPHIDD","object":{"id":20,"install_limit":2,"subscription_key":"set"}}]');
INSERT INTO audit VALUES(31,1795846025151,X'c46ebac7e650f1d5ad0850881c29d0059a10d0e25f9f2a117c6fade0ce70fc89',X'4eb4f573131407b98cc52c39de2b7457c9de3a55b8142ab2d9a1345161068f8d','[{"at":"2026-11-28T06:07:05.151Z","who":"system","name":"gatepost","from":"local","action":"install.add","provider":"SHOPHIDD","object":{"id":21,"install_limit":2,"subscription_key":"set"}}]');
CREATE TABLE `audit_anchor` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_number` integer NOT NULL,
	`hash` blob NOT NULL,
	`until_ms` integer NOT NULL,
	CONSTRAINT "audit_anchor_once" CHECK("audit_anchor"."id" = 1)
);
CREATE TABLE `device_token` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`device_id` integer NOT NULL,
	`token_hash` blob NOT NULL,
	`locale` text,
	`push` text,
	`stands_alone` integer NOT NULL,
	`nobody_after_distribution_id` integer,
	`nobody_after_recipient_id` integer, `push_dropped_at_ms` integer, `push_dropped_why` text, `last_seen_at_ms` integer DEFAULT 0 NOT NULL, `push_at_ms` integer,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "device_token_marks" CHECK(("device_token"."nobody_after_distribution_id" IS NULL) = ("device_token"."nobody_after_recipient_id" IS NULL)),
	CONSTRAINT "device_token_stands" CHECK("device_token"."stands_alone" = 0 OR "device_token"."nobody_after_distribution_id" IS NOT NULL)
);
CREATE TABLE IF NOT EXISTS "install_device" (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`registered_at_ms` integer NOT NULL,
	`after_recipient_id` integer NOT NULL, `last_seen_at_ms` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO install_device VALUES(1,1,1,1,1741064834000,0,1795846024787);
INSERT INTO install_device VALUES(2,1,2,1,1741064834000,0,1795846024818);
INSERT INTO install_device VALUES(5,7,1,3,1741064834000,0,1795846024956);
INSERT INTO install_device VALUES(6,7,2,3,1741064834000,0,1795846024966);
INSERT INTO install_device VALUES(7,3,5,1,1795846024832,0,1795846024832);
INSERT INTO install_device VALUES(8,3,6,1,1795846024844,0,1795846024844);
INSERT INTO install_device VALUES(9,16,1,1,1795846024856,0,1795846024856);
INSERT INTO install_device VALUES(10,4,1,2,1741064834000,0,1795846024874);
INSERT INTO install_device VALUES(11,4,2,2,1741064834000,0,1795846024893);
INSERT INTO install_device VALUES(12,6,5,2,1795846024902,0,1795846024902);
INSERT INTO install_device VALUES(13,6,6,2,1795846024922,0,1795846024922);
INSERT INTO install_device VALUES(14,17,1,2,1795846024935,0,1795846024935);
INSERT INTO install_device VALUES(15,9,5,3,1795846024978,0,1795846024978);
INSERT INTO install_device VALUES(16,9,6,3,1795846024986,0,1795846024986);
INSERT INTO install_device VALUES(17,18,1,3,1795846025016,0,1795846025016);
INSERT INTO install_device VALUES(18,10,1,4,1795846025038,0,1795846025038);
INSERT INTO install_device VALUES(19,10,2,4,1795846025046,0,1795846025046);
INSERT INTO install_device VALUES(20,12,5,4,1795846025056,0,1795846025056);
INSERT INTO install_device VALUES(21,12,6,4,1795846025073,0,1795846025073);
INSERT INTO install_device VALUES(22,19,1,4,1795846025089,0,1795846025089);
INSERT INTO install_device VALUES(23,13,1,5,1795846025096,0,1795846025096);
INSERT INTO install_device VALUES(24,13,2,5,1795846025105,0,1795846025105);
INSERT INTO install_device VALUES(25,15,5,5,1795846025114,0,1795846025114);
INSERT INTO install_device VALUES(26,15,6,5,1795846025124,0,1795846025124);
INSERT INTO install_device VALUES(27,20,1,5,1795846025135,0,1795846025135);
INSERT INTO install_device VALUES(28,21,7,5,1795846025151,0,1795846025151);
CREATE TABLE IF NOT EXISTS "device_domain" (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);
CREATE TABLE IF NOT EXISTS "recipient" (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`distribution_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`state` integer NOT NULL,
	`inbox` integer NOT NULL,
	`is_waiting` integer NOT NULL,
	`queued_at_ms` integer NOT NULL,
	`sent_at_ms` integer,
	`failed_at_ms` integer,
	`expired_at_ms` integer,
	`received_at_ms` integer,
	`opened_at_ms` integer,
	`executed_at_ms` integer,
	`refused_at_ms` integer,
	`detail` text, `push_state` integer, `pushed_at_ms` integer, `push_problem` text, `carried_at_ms` integer, `carried` text,
	FOREIGN KEY (`distribution_id`) REFERENCES `distribution`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "recipient_state" CHECK("recipient"."state" BETWEEN 1 AND 4),
	CONSTRAINT "recipient_inbox_of" CHECK("recipient"."inbox" <> 0)
);
CREATE TABLE `appliance` (
	`id` integer PRIMARY KEY NOT NULL,
	`stranger_count` integer NOT NULL,
	CONSTRAINT "appliance_once" CHECK("appliance"."id" = 1)
);
INSERT INTO appliance VALUES(1,0);
CREATE TABLE IF NOT EXISTS "device_provider" (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`slot_count` integer DEFAULT 0 NOT NULL,
	`tie_count` integer DEFAULT 0 NOT NULL,
	`token_id` integer,
	`is_by_link` integer DEFAULT 0 NOT NULL,
	`after_recipient_id` integer DEFAULT 0 NOT NULL,
	`after_slot_id` integer DEFAULT 0 NOT NULL, `checked_in_at_ms` integer DEFAULT 0 NOT NULL, `claim_install_id` integer, `seen_apart` integer DEFAULT 0 NOT NULL, `ride_until_ms` integer DEFAULT 0 NOT NULL, `home_install_id` integer, `home_left_at_ms` integer, `home_moved_at_ms` integer DEFAULT 0 NOT NULL, `browser_install_id` integer,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`token_id`) REFERENCES `device_token`(`id`) ON UPDATE no action ON DELETE set null
) WITHOUT ROWID;
INSERT INTO device_provider VALUES(1,1,'android','10','Phone “0”','','Happ/3.0',1795846024856,2,0,NULL,0,0,0,0,NULL,0,0,1,NULL,0,NULL);
INSERT INTO device_provider VALUES(1,2,'android','10','Phone “0”','','Happ/3.0',1795846024935,2,0,NULL,0,0,0,0,NULL,0,0,4,NULL,0,NULL);
INSERT INTO device_provider VALUES(1,3,'android','10','Phone “0”','','',1795846025016,2,0,NULL,0,0,0,0,NULL,0,0,7,NULL,0,NULL);
INSERT INTO device_provider VALUES(1,4,'','','','','',1795846025089,2,0,NULL,0,0,0,0,NULL,0,0,10,NULL,0,NULL);
INSERT INTO device_provider VALUES(1,5,'','','','','',1795846025135,2,0,NULL,0,0,0,0,NULL,0,0,13,NULL,0,NULL);
INSERT INTO device_provider VALUES(2,1,'android','10','Phone “0”','','Happ/3.0',1795846024818,1,0,NULL,0,0,0,0,NULL,0,0,1,NULL,0,NULL);
INSERT INTO device_provider VALUES(2,2,'android','10','Phone “0”','','Happ/3.0',1795846024893,1,0,NULL,0,0,0,0,NULL,0,0,4,NULL,0,NULL);
INSERT INTO device_provider VALUES(2,3,'android','10','Phone “0”','','',1795846024966,1,0,NULL,0,0,0,0,NULL,0,0,7,NULL,0,NULL);
INSERT INTO device_provider VALUES(2,4,'','','','','',1795846025046,1,0,NULL,0,0,0,0,NULL,0,0,10,NULL,0,NULL);
INSERT INTO device_provider VALUES(2,5,'','','','','',1795846025105,1,0,NULL,0,0,0,0,NULL,0,0,13,NULL,0,NULL);
INSERT INTO device_provider VALUES(5,1,'','','','','',1795846024832,1,0,NULL,0,0,0,0,NULL,0,0,3,NULL,0,NULL);
INSERT INTO device_provider VALUES(5,2,'','','','','',1795846024902,1,0,NULL,0,0,0,0,NULL,0,0,6,NULL,0,NULL);
INSERT INTO device_provider VALUES(5,3,'','','','','',1795846024978,1,0,NULL,0,0,0,0,NULL,0,0,9,NULL,0,NULL);
INSERT INTO device_provider VALUES(5,4,'','','','','',1795846025056,1,0,NULL,0,0,0,0,NULL,0,0,12,NULL,0,NULL);
INSERT INTO device_provider VALUES(5,5,'','','','','',1795846025114,1,0,NULL,0,0,0,0,NULL,0,0,15,NULL,0,NULL);
INSERT INTO device_provider VALUES(6,1,'','','','','',1795846024844,1,0,NULL,0,0,0,0,NULL,0,0,3,NULL,0,NULL);
INSERT INTO device_provider VALUES(6,2,'','','','','',1795846024922,1,0,NULL,0,0,0,0,NULL,0,0,6,NULL,0,NULL);
INSERT INTO device_provider VALUES(6,3,'','','','','',1795846024986,1,0,NULL,0,0,0,0,NULL,0,0,9,NULL,0,NULL);
INSERT INTO device_provider VALUES(6,4,'','','','','',1795846025073,1,0,NULL,0,0,0,0,NULL,0,0,12,NULL,0,NULL);
INSERT INTO device_provider VALUES(6,5,'','','','','',1795846025124,1,0,NULL,0,0,0,0,NULL,0,0,15,NULL,0,NULL);
INSERT INTO device_provider VALUES(7,5,'','','','','',1795846025151,1,0,NULL,0,0,0,0,NULL,0,0,21,NULL,0,NULL);
CREATE TABLE `install_refusal` (
	`install_id` integer PRIMARY KEY NOT NULL,
	`refused_count` integer NOT NULL,
	`refused_at_ms` integer NOT NULL,
	`reason` text NOT NULL, `day` integer DEFAULT 0 NOT NULL, `day_count` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);
CREATE TABLE `provider_day` (
	`provider_id` integer NOT NULL,
	`day` integer NOT NULL,
	`admitted` integer DEFAULT 0 NOT NULL,
	`seen` integer DEFAULT 0 NOT NULL,
	`refused_hwid` integer DEFAULT 0 NOT NULL,
	`refused_domain` integer DEFAULT 0 NOT NULL,
	`refused_disabled` integer DEFAULT 0 NOT NULL,
	`refused_full` integer DEFAULT 0 NOT NULL,
	`freed` integer DEFAULT 0 NOT NULL,
	`links` integer DEFAULT 0 NOT NULL,
	`sends` integer DEFAULT 0 NOT NULL,
	`recipients` integer DEFAULT 0 NOT NULL,
	`delivered` integer DEFAULT 0 NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`opened` integer DEFAULT 0 NOT NULL,
	`executed` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`expired` integer DEFAULT 0 NOT NULL, `admitted_over` integer DEFAULT 0 NOT NULL, `carried` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`provider_id`, `day`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
INSERT INTO provider_day VALUES(1,20785,3,4,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0);
INSERT INTO provider_day VALUES(2,20785,3,4,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0);
INSERT INTO provider_day VALUES(3,20785,3,4,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0);
INSERT INTO provider_day VALUES(4,20785,5,4,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0);
INSERT INTO provider_day VALUES(5,20785,6,5,0,0,0,0,0,2,0,0,0,0,0,0,0,0,0,0);
CREATE TABLE `slot_end` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`device_id` integer,
	`registered_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`ended_at_ms` integer NOT NULL,
	`why` text NOT NULL,
	`actor` text NOT NULL,
	`for_device_id` integer,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`for_device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "slot_end_why" CHECK("slot_end"."why" IN ('deleted', 'inactive', 'replaced', 'forgotten'))
);
CREATE TABLE `destination` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`webhook_id` integer,
	`waiting_count` integer DEFAULT 0 NOT NULL,
	`lease_owner` text,
	`lease_until_ms` integer,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`failing_since_ms` integer,
	`retry_at_ms` integer DEFAULT 0 NOT NULL,
	`stopped_at_ms` integer,
	`problem` text,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhook`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "destination_kind" CHECK("destination"."kind" IN ('fcm', 'apns', 'webpush', 'webhook', 'telegram'))
);
CREATE TABLE `event` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`at_ms` integer NOT NULL,
	`data` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
CREATE TABLE `notice` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`subject` text NOT NULL,
	`mark` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`destination_id` integer NOT NULL,
	`next_at_ms` integer NOT NULL,
	`queued_at_ms` integer NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`recipient_id` integer,
	`event_id` integer,
	`problem` text,
	FOREIGN KEY (`destination_id`) REFERENCES `destination`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`recipient_id`) REFERENCES `recipient`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `event`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "outbox_one_thing" CHECK(("outbox"."recipient_id" IS NULL) <> ("outbox"."event_id" IS NULL))
);
CREATE TABLE `webhook` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`address` text NOT NULL,
	`events` text NOT NULL,
	`scheme` text NOT NULL,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until_ms` integer,
	`locale` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`disabled_at_ms` integer,
	`disabled_why` text,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "webhook_kind" CHECK("webhook"."kind" IN ('webhook', 'telegram')),
	CONSTRAINT "webhook_disabled" CHECK(("webhook"."disabled_at_ms" IS NULL) = ("webhook"."disabled_why" IS NULL))
);
CREATE TABLE `webhook_delivery` (
	`webhook_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`is_delivered` integer NOT NULL,
	`attempt_count` integer NOT NULL,
	`ended_at_ms` integer NOT NULL,
	`problem` text,
	PRIMARY KEY(`webhook_id`, `event_id`),
	FOREIGN KEY (`webhook_id`) REFERENCES `webhook`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `event`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
CREATE TABLE `idempotent_call` (
	`provider_id` integer NOT NULL,
	`idempotency_key` text NOT NULL,
	`call` text NOT NULL,
	`params_hash` blob NOT NULL,
	`answer` text NOT NULL,
	`answered_at_ms` integer NOT NULL,
	PRIMARY KEY(`provider_id`, `idempotency_key`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
CREATE TABLE `install_tombstone` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_code` text NOT NULL,
	`subscription_key_hash` blob,
	`ended_at_ms` integer NOT NULL,
	`why` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_tombstone_why" CHECK("install_tombstone"."why" IN ('removed', 'revoked'))
);
CREATE TABLE `refused_device` (
	`install_id` integer NOT NULL,
	`hwid` text NOT NULL,
	`device_name` text NOT NULL,
	`os` text NOT NULL,
	`reason` text NOT NULL,
	`refused_count` integer NOT NULL,
	`first_refused_at_ms` integer NOT NULL,
	`last_refused_at_ms` integer NOT NULL,
	PRIMARY KEY(`install_id`, `hwid`),
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS "install" (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_code` text NOT NULL,
	`install_limit` integer NOT NULL,
	`device_count` integer DEFAULT 0 NOT NULL,
	`status` integer NOT NULL,
	`note` text,
	`created_at_ms` integer NOT NULL,
	`subscription_key_hash` blob,
	`inactive_days` integer,
	`when_full` text,
	`cool_down_hours` integer,
	`replaced_at_ms` integer,
	`enforce` integer,
	`without_hwid` text,
	`over_max` integer DEFAULT 0 NOT NULL, `support_url` text, `web_page_url` text, `freed_at_ms` integer, `same_phone` text, `has_hashes` integer DEFAULT 0 NOT NULL, `panel_user` text, `panel_facts` text,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_limit_range" CHECK("install"."install_limit" BETWEEN 1 AND 100),
	CONSTRAINT "install_never_over_full" CHECK("install"."device_count" >= 0 AND ("install"."device_count" <= "install"."install_limit" OR "install"."device_count" <= "install"."over_max")),
	CONSTRAINT "install_over_max" CHECK("install"."over_max" BETWEEN 0 AND 100),
	CONSTRAINT "install_status" CHECK("install"."status" IN (5, 10))
);
INSERT INTO install VALUES(1,1,'T5AhPPbwXCjE',2,2,10,'anna',1741064767000,X'e461f78abcd243b5e0a0ab878fd7c34b44751f648e49f87de365ca5e2f1f0ee3',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'remnawave:1','{"installLimit":2,"status":10,"note":"anna","subscriptionKeyHash":"e461f78abcd243b5e0a0ab878fd7c34b44751f648e49f87de365ca5e2f1f0ee3","devicesUntilMs":1741064834000}');
INSERT INTO install VALUES(2,1,'PuXxjMnDo1Vk',2,0,5,'boris',1741064768000,X'd15948941ed342e0d6782750550bf10beeb32f2882152ede237d06a3916a44c3',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'remnawave:2','{"installLimit":2,"status":5,"note":"boris","subscriptionKeyHash":"d15948941ed342e0d6782750550bf10beeb32f2882152ede237d06a3916a44c3","devicesUntilMs":0}');
INSERT INTO install VALUES(3,1,'o3824AABajLk',100,2,10,'clara',1741064769000,X'e53355c97b9ddc31543a3a1db2d487b2fc98111a946c119be79839fa15f8877b',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'remnawave:3','{"installLimit":100,"status":10,"note":"clara","subscriptionKeyHash":"e53355c97b9ddc31543a3a1db2d487b2fc98111a946c119be79839fa15f8877b","devicesUntilMs":0}');
INSERT INTO install VALUES(4,2,'kPrVmckBpG1Y',2,2,10,'anna',1741064767000,X'5fb4651f6eb0a1a04791820876d8a49fefdc43512c151181fd57eb5e1cd8c5f0',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'3x-ui:5fb4651f6eb0a1a04791820876d8a49fefdc43512c151181fd57eb5e1cd8c5f0','{"installLimit":2,"status":10,"note":"anna","subscriptionKeyHash":"5fb4651f6eb0a1a04791820876d8a49fefdc43512c151181fd57eb5e1cd8c5f0","devicesUntilMs":1741064834000}');
INSERT INTO install VALUES(5,2,'TTK11vIYlU7v',2,0,5,'boris',1741064768000,X'b6f4e018074ca4b65e49e0b560007f018e89df5b400a21c053b6c9b9e971135a',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'3x-ui:b6f4e018074ca4b65e49e0b560007f018e89df5b400a21c053b6c9b9e971135a','{"installLimit":2,"status":5,"note":"boris","subscriptionKeyHash":"b6f4e018074ca4b65e49e0b560007f018e89df5b400a21c053b6c9b9e971135a","devicesUntilMs":0}');
INSERT INTO install VALUES(6,2,'WpHeOV1EAffn',100,2,10,'clara',1741064769000,X'ffd556a1e763c28308a637727225fecb0289fddc5ab47c9d9693d5f52c95b5e4',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'3x-ui:ffd556a1e763c28308a637727225fecb0289fddc5ab47c9d9693d5f52c95b5e4','{"installLimit":100,"status":10,"note":"clara","subscriptionKeyHash":"ffd556a1e763c28308a637727225fecb0289fddc5ab47c9d9693d5f52c95b5e4","devicesUntilMs":0}');
INSERT INTO install VALUES(7,3,'ypPiK8WMYLMW',2,2,10,'anna',1741064767000,X'6eb40eca6f611ce803bbc06a5c69779ed6128fb3c5bf708593311bf2a8a4aca2',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'pasarguard:1','{"installLimit":2,"status":10,"note":"anna","subscriptionKeyHash":"6eb40eca6f611ce803bbc06a5c69779ed6128fb3c5bf708593311bf2a8a4aca2","devicesUntilMs":1741064834000}');
INSERT INTO install VALUES(8,3,'YzoBLgTpqbiS',2,0,5,'boris',1741064768000,X'530324e4fe13388fe376c93cb82974cfac1ddc5a715d6d59d7ab45afe2efe09f',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'pasarguard:2','{"installLimit":2,"status":5,"note":"boris","subscriptionKeyHash":"530324e4fe13388fe376c93cb82974cfac1ddc5a715d6d59d7ab45afe2efe09f","devicesUntilMs":0}');
INSERT INTO install VALUES(9,3,'77waPB4qBvy0',100,2,10,'clara',1741064769000,X'184fee596abe26cf9e9001fe9d9d1515c23a27dca65e3bd6a9aee32775a0b9ba',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'pasarguard:3','{"installLimit":100,"status":10,"note":"clara","subscriptionKeyHash":"184fee596abe26cf9e9001fe9d9d1515c23a27dca65e3bd6a9aee32775a0b9ba","devicesUntilMs":0}');
INSERT INTO install VALUES(10,4,'nEhJJn6ZiE8z',100,2,10,'anna',1741064767000,X'038b3ecc4989c97a5e923e73967f0b564c2ad7e460571180b28c6ab753752d85',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'marzban:anna','{"installLimit":100,"status":10,"note":"anna","subscriptionKeyHash":"038b3ecc4989c97a5e923e73967f0b564c2ad7e460571180b28c6ab753752d85","devicesUntilMs":0}');
INSERT INTO install VALUES(11,4,'hcM9FJCq7APo',100,0,5,'boris',1741064768000,X'213fa6fdc753aa067ec184a5761666ba99fc0698f9dbc5a5c549fe5aabf98a1c',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'marzban:boris','{"installLimit":100,"status":5,"note":"boris","subscriptionKeyHash":"213fa6fdc753aa067ec184a5761666ba99fc0698f9dbc5a5c549fe5aabf98a1c","devicesUntilMs":0}');
INSERT INTO install VALUES(12,4,'yBwskIDekl12',100,2,10,'clara',1741064769000,X'5fb55a1989355e6606bb8b7393597f1be9e8216e11569a6ed8cf8b73fa405eb8',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'marzban:clara','{"installLimit":100,"status":10,"note":"clara","subscriptionKeyHash":"5fb55a1989355e6606bb8b7393597f1be9e8216e11569a6ed8cf8b73fa405eb8","devicesUntilMs":0}');
INSERT INTO install VALUES(13,5,'ZzGzPU700thp',100,2,10,'anna',1741046400000,X'2da8ad5a60b857d46d67daa3d2a65575974367acdd30b2af8993dec8f85b6699',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'hiddify:2da8ad5a60b857d46d67daa3d2a65575974367acdd30b2af8993dec8f85b6699','{"installLimit":100,"status":10,"note":"anna","subscriptionKeyHash":"2da8ad5a60b857d46d67daa3d2a65575974367acdd30b2af8993dec8f85b6699","devicesUntilMs":0}');
INSERT INTO install VALUES(14,5,'TyCylcfg4czg',100,0,5,'boris',1741046400000,X'6c352af9131b9a50851c297dfa72ae1670173e755ea53dc3dfd4e0e98ba0fdc5',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'hiddify:6c352af9131b9a50851c297dfa72ae1670173e755ea53dc3dfd4e0e98ba0fdc5','{"installLimit":100,"status":5,"note":"boris","subscriptionKeyHash":"6c352af9131b9a50851c297dfa72ae1670173e755ea53dc3dfd4e0e98ba0fdc5","devicesUntilMs":0}');
INSERT INTO install VALUES(15,5,'Z9UTIfGMt9p8',100,2,10,'clara',1741046400000,X'0d520f15ceedd03a5b30a9bb4bfd976f5c9bf8e24cb05d10ff0e08d5e074f9c1',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,'hiddify:0d520f15ceedd03a5b30a9bb4bfd976f5c9bf8e24cb05d10ff0e08d5e074f9c1','{"installLimit":100,"status":10,"note":"clara","subscriptionKeyHash":"0d520f15ceedd03a5b30a9bb4bfd976f5c9bf8e24cb05d10ff0e08d5e074f9c1","devicesUntilMs":0}');
INSERT INTO install VALUES(16,1,'T7Te1RY36bmb',2,1,10,'remnawave.example.com Dh6j…',1795846024856,X'5497eb28c769ebbed85018cfdd92b90ec15e6253026bc4241247dbd4a3015fbe',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO install VALUES(17,2,'p20rsi9Niwr4',2,1,10,'xui.example.com',1795846024935,X'b6124c61d2a41f20ed740e248817ec422aeb8829343231df6c930c2d40650c04',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO install VALUES(18,3,'tlA6HyZIErch',2,1,10,'pasarguard.example.com 4',1795846025016,X'2c06164f22d9c43a4791a47cfceed9105f46131b2280518ebdebce1fcf081f73',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO install VALUES(19,4,'d77SKD6ueYOg',2,1,10,'marzban.example.com dora',1795846025089,X'e663152e1bb4331c9f24686cecdfe9e52e476b4b3fadddd67a11aa480862a808',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO install VALUES(20,5,'g768P75IlA1O',2,1,10,'hiddify.example.com e8f9…',1795846025135,X'212159d1932665166cc92a3d28befabdb33c47814c33ab79750dc64be221eabe',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO install VALUES(21,5,'9Nclk9WvZCZj',2,1,10,'hiddify.example.com 3F1C…',1795846025151,X'3cface99ccc282b6c15aa40b4218b703d3cbce0130b186e524ec4cc58c84e724',NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL);
CREATE TABLE `ride` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`device_id` integer,
	`os` text NOT NULL,
	`part` text NOT NULL,
	`distribution_id` integer NOT NULL,
	`from_ms` integer NOT NULL,
	`until_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`distribution_id`) REFERENCES `distribution`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "ride_ends" CHECK("ride"."until_ms" >= "ride"."from_ms")
);
CREATE TABLE `account` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`password_hash` text,
	`totp_secret` blob,
	`totp_since_ms` integer,
	`totp_step` integer DEFAULT 0 NOT NULL,
	`recovery` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`signed_in_at_ms` integer,
	CONSTRAINT "account_totp" CHECK("account"."totp_since_ms" IS NULL OR "account"."totp_secret" IS NOT NULL)
);
CREATE TABLE `account_role` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`provider_id` integer,
	`role` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "account_role_place" CHECK(("account_role"."provider_id" IS NULL) = ("account_role"."role" IN ('operator', 'observer'))),
	CONSTRAINT "account_role_known" CHECK("account_role"."role" IN ('operator', 'observer', 'owner', 'sender', 'support', 'reader'))
);
CREATE TABLE `device_mix` (
	`provider_id` integer NOT NULL,
	`day` integer NOT NULL,
	`os` text NOT NULL,
	`app` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`provider_id`, `day`, `os`, `app`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
CREATE TABLE `job` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`params` text NOT NULL,
	`actor` text NOT NULL,
	`state` text NOT NULL,
	`after_id` integer DEFAULT 0 NOT NULL,
	`total_count` integer DEFAULT 0 NOT NULL,
	`seen_count` integer DEFAULT 0 NOT NULL,
	`changed_count` integer DEFAULT 0 NOT NULL,
	`result` text,
	`created_at_ms` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`ended_at_ms` integer,
	`lease` text,
	`lease_until_ms` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "job_state" CHECK("job"."state" IN ('waiting', 'running', 'done', 'cancelled', 'failed'))
);
CREATE TABLE `one_time` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`secret_hash` blob NOT NULL,
	`kind` text NOT NULL,
	`account_id` integer,
	`provider_id` integer,
	`role` text,
	`until_ms` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "one_time_secret" CHECK(length("one_time"."secret_hash") = 32)
);
CREATE TABLE `passkey` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` blob NOT NULL,
	`sign_count` integer NOT NULL,
	`transports` text NOT NULL,
	`name` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`used_at_ms` integer,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade
);
CREATE TABLE `provider_key` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`key_hash` blob NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`until_ms` integer,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "provider_key_hash_length" CHECK(length("provider_key"."key_hash") = 32),
	CONSTRAINT "provider_key_scope" CHECK("provider_key"."scope" IN ('read', 'links', 'send'))
);
CREATE TABLE `session` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token_hash` blob NOT NULL,
	`account_id` integer,
	`provider_id` integer,
	`key_hash` blob,
	`method` text NOT NULL,
	`client` text NOT NULL,
	`agent` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`seen_at_ms` integer NOT NULL,
	`until_ms` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "session_token" CHECK(length("session"."token_hash") = 32),
	CONSTRAINT "session_of_one" CHECK(("session"."account_id" IS NULL) = ("session"."provider_id" IS NOT NULL AND "session"."key_hash" IS NOT NULL))
);
CREATE TABLE `gate_upstream` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`updated_by` text NOT NULL
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('device_token',0);
INSERT INTO sqlite_sequence VALUES('install_device',28);
INSERT INTO sqlite_sequence VALUES('recipient',0);
INSERT INTO sqlite_sequence VALUES('install',21);
INSERT INTO sqlite_sequence VALUES('provider',5);
INSERT INTO sqlite_sequence VALUES('device',7);
INSERT INTO sqlite_sequence VALUES('domain',5);
CREATE UNIQUE INDEX `device_hwid_unique` ON `device` (`hwid`);
CREATE INDEX `distribution_by_provider` ON `distribution` (`provider_id`);
CREATE INDEX `distribution_unchecked` ON `distribution` (`due_at_ms`) WHERE status IN (10, 20);
CREATE INDEX `distribution_to_prune` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NULL;
CREATE INDEX `distribution_unbound` ON `distribution` (`provider_id`,`created_at_ms`) WHERE unbound_count > 0;
CREATE UNIQUE INDEX `domain_once_per_provider` ON `domain` (`provider_id`,`domain_hash`);
CREATE UNIQUE INDEX `provider_code_unique` ON `provider` (`code`);
CREATE TRIGGER distribution_created BEFORE INSERT ON distribution WHEN NEW.status <> 10 BEGIN
  SELECT RAISE(ABORT, 'a distribution begins as 10 Created');
END;
CREATE TRIGGER distribution_moved BEFORE UPDATE OF status ON distribution
WHEN NEW.status <> OLD.status AND NOT EXISTS (
  SELECT 1 FROM distribution_transition
  WHERE from_status = OLD.status AND to_status = NEW.status
) BEGIN
  SELECT RAISE(ABORT, 'no such transition between statuses of a distribution');
END;
CREATE UNIQUE INDEX `device_token_token_hash_unique` ON `device_token` (`token_hash`);
CREATE INDEX `device_token_by_device` ON `device_token` (`device_id`);
CREATE UNIQUE INDEX `device_token_of_nobody` ON `device_token` (`device_id`) WHERE nobody_after_distribution_id IS NOT NULL;
CREATE UNIQUE INDEX `install_device_once` ON `install_device` (`install_id`,`device_id`);
CREATE INDEX `install_device_by_device` ON `install_device` (`device_id`,`provider_id`,`id`);
CREATE INDEX `device_domain_by_domain` ON `device_domain` (`domain_id`,`device_id`);
CREATE INDEX `device_domain_by_provider` ON `device_domain` (`device_id`,`provider_id`);
CREATE INDEX `recipient_inbox` ON `recipient` (`device_id`,`is_waiting`,`inbox`);
CREATE UNIQUE INDEX `recipient_once` ON `recipient` (`distribution_id`,`device_id`);
CREATE INDEX `distribution_blocked` ON `distribution` (`id`) WHERE status = 140 AND expired_at_ms IS NULL;
CREATE TRIGGER install_device_stays
BEFORE UPDATE OF install_id, device_id, provider_id ON install_device BEGIN
  SELECT RAISE(ABORT, 'a slot never moves to another link or device');
END;
CREATE TRIGGER device_domain_added AFTER INSERT ON device_domain BEGIN
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, tie_count)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.linked_at_ms, 1)
  ON CONFLICT DO UPDATE SET tie_count = tie_count + 1;
END;
CREATE TRIGGER device_domain_removed AFTER DELETE ON device_domain BEGIN
  UPDATE device_provider SET tie_count = tie_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
END;
CREATE TRIGGER device_domain_stays
BEFORE UPDATE OF device_id, domain_id, provider_id ON device_domain BEGIN
  SELECT RAISE(ABORT, 'a tie never moves to another device or binding');
END;
CREATE INDEX `distribution_pruned` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NOT NULL;
CREATE INDEX `distribution_to_expire` ON `distribution` (`expires_at_ms`) WHERE expired_at_ms IS NULL AND status >= 100;
CREATE INDEX `domain_by_provider` ON `domain` (`provider_id`);
CREATE INDEX `device_stranger` ON `device` (`last_seen_at_ms`) WHERE holder_count = 0;
CREATE TRIGGER domain_added AFTER INSERT ON domain BEGIN
  UPDATE provider SET domain_count = domain_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER domain_removed AFTER DELETE ON domain BEGIN
  UPDATE provider SET domain_count = domain_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER domain_stays BEFORE UPDATE OF provider_id ON domain BEGIN
  SELECT RAISE(ABORT, 'a binding never moves to another provider');
END;
CREATE TRIGGER distribution_added AFTER INSERT ON distribution BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes + octet_length(NEW.payload) + octet_length(NEW.target_hwid) + 200
  WHERE id = NEW.provider_id;
END;
CREATE TRIGGER distribution_loaded AFTER UPDATE OF recipient_count ON distribution
WHEN NEW.recipient_count <> OLD.recipient_count BEGIN
  UPDATE provider SET ledger_count = ledger_count + NEW.recipient_count - OLD.recipient_count
  WHERE id = NEW.provider_id;
END;
CREATE TRIGGER distribution_pruned AFTER UPDATE OF pruned_at_ms ON distribution
WHEN OLD.pruned_at_ms IS NULL AND NEW.pruned_at_ms IS NOT NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
END;
CREATE TRIGGER distribution_removed AFTER DELETE ON distribution WHEN OLD.pruned_at_ms IS NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
END;
CREATE TRIGGER distribution_stays
BEFORE UPDATE OF provider_id, payload, target_hwid ON distribution
WHEN NEW.provider_id <> OLD.provider_id OR NEW.target_hwid <> OLD.target_hwid
  OR (NEW.payload <> OLD.payload AND NEW.pruned_at_ms IS NULL) BEGIN
  SELECT RAISE(ABORT, 'what was sent, to whom and by whom, never changes');
END;
CREATE TRIGGER device_added AFTER INSERT ON device WHEN NEW.holder_count = 0 BEGIN
  UPDATE appliance SET stranger_count = stranger_count + 1;
END;
CREATE TRIGGER device_removed AFTER DELETE ON device WHEN OLD.holder_count = 0 BEGIN
  UPDATE appliance SET stranger_count = stranger_count - 1;
END;
CREATE TRIGGER device_held AFTER UPDATE OF holder_count ON device
WHEN (OLD.holder_count = 0) <> (NEW.holder_count = 0) BEGIN
  UPDATE appliance SET stranger_count = stranger_count + iif(NEW.holder_count = 0, 1, -1);
END;
CREATE INDEX `device_provider_by_os` ON `device_provider` (`provider_id`,`os`,`device_id`);
CREATE INDEX `device_provider_by_token` ON `device_provider` (`token_id`) WHERE token_id IS NOT NULL;
CREATE INDEX `device_provider_idle` ON `device_provider` (`last_seen_at_ms`) WHERE slot_count = 0 AND tie_count = 0;
CREATE TRIGGER device_provider_place_lost AFTER UPDATE OF token_id ON device_provider
WHEN OLD.token_id IS NOT NULL AND OLD.token_id IS NOT NEW.token_id BEGIN
  DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
    AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
END;
CREATE TRIGGER device_provider_removed AFTER DELETE ON device_provider
WHEN OLD.token_id IS NOT NULL BEGIN
  DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
    AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
END;
CREATE TRIGGER device_provider_held AFTER INSERT ON device_provider
WHEN NEW.slot_count + NEW.tie_count > 0 BEGIN
  UPDATE device SET holder_count = holder_count + 1 WHERE id = NEW.device_id;
END;
CREATE TRIGGER device_provider_changed AFTER UPDATE OF slot_count, tie_count ON device_provider
WHEN (OLD.slot_count + OLD.tie_count = 0) <> (NEW.slot_count + NEW.tie_count = 0) BEGIN
  UPDATE device SET holder_count = holder_count + iif(NEW.slot_count + NEW.tie_count = 0, -1, 1)
  WHERE id = NEW.device_id;
END;
CREATE TRIGGER device_provider_left AFTER DELETE ON device_provider
WHEN OLD.slot_count + OLD.tie_count > 0 BEGIN
  UPDATE device SET holder_count = holder_count - 1 WHERE id = OLD.device_id;
END;
CREATE INDEX `provider_day_by_day` ON `provider_day` (`day`);
CREATE INDEX `slot_end_by_install` ON `slot_end` (`install_id`,`id`);
CREATE INDEX `slot_end_by_provider` ON `slot_end` (`provider_id`,`id`);
CREATE INDEX `slot_end_by_device` ON `slot_end` (`device_id`) WHERE device_id IS NOT NULL;
CREATE INDEX `slot_end_by_newcomer` ON `slot_end` (`for_device_id`) WHERE for_device_id IS NOT NULL;
CREATE TRIGGER slot_end_added AFTER INSERT ON slot_end BEGIN
  UPDATE provider SET slot_end_count = slot_end_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER slot_end_removed AFTER DELETE ON slot_end BEGIN
  UPDATE provider SET slot_end_count = slot_end_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER slot_end_stays BEFORE UPDATE OF install_id, provider_id ON slot_end BEGIN
  SELECT RAISE(ABORT, 'the end of a slot stays with its link');
END;
CREATE UNIQUE INDEX `destination_of_gateway` ON `destination` (`kind`,`origin`) WHERE webhook_id IS NULL;
CREATE UNIQUE INDEX `destination_of_webhook` ON `destination` (`webhook_id`) WHERE webhook_id IS NOT NULL;
CREATE INDEX `destination_waiting` ON `destination` (`id`) WHERE waiting_count > 0;
CREATE INDEX `event_by_provider` ON `event` (`provider_id`,`id`);
CREATE INDEX `event_by_time` ON `event` (`at_ms`);
CREATE UNIQUE INDEX `notice_of_provider` ON `notice` (`provider_id`,`subject`) WHERE provider_id IS NOT NULL;
CREATE UNIQUE INDEX `notice_of_appliance` ON `notice` (`subject`) WHERE provider_id IS NULL;
CREATE INDEX `outbox_due` ON `outbox` (`destination_id`,`next_at_ms`,`id`);
CREATE UNIQUE INDEX `outbox_push` ON `outbox` (`recipient_id`) WHERE recipient_id IS NOT NULL;
CREATE INDEX `outbox_of_webhook` ON `outbox` (`destination_id`,`event_id`) WHERE event_id IS NOT NULL;
CREATE UNIQUE INDEX `outbox_event` ON `outbox` (`event_id`,`destination_id`) WHERE event_id IS NOT NULL;
CREATE INDEX `webhook_by_provider` ON `webhook` (`provider_id`,`id`);
CREATE INDEX `webhook_rotated` ON `webhook` (`previous_until_ms`) WHERE previous_until_ms IS NOT NULL;
CREATE INDEX `webhook_delivery_by_event` ON `webhook_delivery` (`event_id`);
CREATE INDEX `distribution_at_gateways` ON `distribution` (`expires_at_ms`) WHERE status = 40 AND handed_over_at_ms IS NOT NULL;
CREATE INDEX `distribution_awaits_none` ON `distribution` (`id`) WHERE status = 40 AND handed_over_at_ms IS NOT NULL AND push_waiting_count = 0;
CREATE INDEX `distribution_unfinished` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100 AND handed_over_at_ms IS NULL;
CREATE INDEX `distribution_in_delivery` ON `distribution` (`provider_id`) WHERE status IN (5, 6, 40) AND handed_over_at_ms IS NULL;
CREATE TRIGGER outbox_added AFTER INSERT ON outbox BEGIN
  UPDATE destination SET waiting_count = waiting_count + 1 WHERE id = NEW.destination_id;
END;
CREATE TRIGGER outbox_removed AFTER DELETE ON outbox BEGIN
  UPDATE destination SET waiting_count = waiting_count - 1 WHERE id = OLD.destination_id;
END;
CREATE TRIGGER outbox_stays BEFORE UPDATE OF destination_id, recipient_id, event_id ON outbox BEGIN
  SELECT RAISE(ABORT, 'a dispatch stays with its destination');
END;
CREATE TRIGGER recipient_at_gateway_removed AFTER DELETE ON recipient WHEN OLD.push_state = 1 BEGIN
  UPDATE distribution SET push_waiting_count = push_waiting_count - 1
  WHERE id = OLD.distribution_id;
END;
CREATE INDEX `distribution_unscheduled` ON `distribution` (`provider_id`) WHERE status < 100 AND handed_over_at_ms IS NULL AND due_at_ms = created_at_ms;
CREATE INDEX `idempotent_call_by_time` ON `idempotent_call` (`answered_at_ms`);
CREATE UNIQUE INDEX `install_tombstone_install_code_unique` ON `install_tombstone` (`install_code`);
CREATE INDEX `install_tombstone_by_provider` ON `install_tombstone` (`provider_id`,`id`);
CREATE INDEX `install_tombstone_by_key` ON `install_tombstone` (`subscription_key_hash`,`provider_id`) WHERE subscription_key_hash IS NOT NULL;
CREATE INDEX `refused_device_by_time` ON `refused_device` (`last_refused_at_ms`);
CREATE INDEX `refused_device_by_hwid` ON `refused_device` (`hwid`);
CREATE UNIQUE INDEX `install_install_code_unique` ON `install` (`install_code`);
CREATE INDEX `install_by_provider` ON `install` (`provider_id`);
CREATE UNIQUE INDEX `install_by_subscription_key` ON `install` (`subscription_key_hash`,`provider_id`) WHERE subscription_key_hash IS NOT NULL;
CREATE TRIGGER install_added AFTER INSERT ON install BEGIN
  UPDATE provider SET install_count = install_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER install_removed AFTER DELETE ON install BEGIN
  UPDATE provider SET install_count = install_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER install_stays BEFORE UPDATE OF provider_id ON install BEGIN
  SELECT RAISE(ABORT, 'a link never moves to another provider');
END;
CREATE TRIGGER install_tombstone_added AFTER INSERT ON install_tombstone BEGIN
  UPDATE provider SET tombstone_count = tombstone_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER install_tombstone_removed AFTER DELETE ON install_tombstone BEGIN
  UPDATE provider SET tombstone_count = tombstone_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER idempotent_call_added AFTER INSERT ON idempotent_call BEGIN
  UPDATE provider SET idempotent_count = idempotent_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER idempotent_call_removed AFTER DELETE ON idempotent_call BEGIN
  UPDATE provider SET idempotent_count = idempotent_count - 1 WHERE id = OLD.provider_id;
END;
CREATE UNIQUE INDEX `ride_of_all` ON `ride` (`provider_id`,`os`,`part`) WHERE device_id IS NULL;
CREATE UNIQUE INDEX `ride_of_device` ON `ride` (`device_id`,`provider_id`,`part`) WHERE device_id IS NOT NULL;
CREATE INDEX `ride_by_distribution` ON `ride` (`distribution_id`);
CREATE INDEX `ride_by_end` ON `ride` (`until_ms`);
CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, slot_count, home_install_id)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.registered_at_ms, 1,
    NEW.install_id)
  ON CONFLICT DO UPDATE SET slot_count = slot_count + 1,
    home_install_id = coalesce(home_install_id, NEW.install_id),
    home_left_at_ms = CASE WHEN coalesce(home_install_id, NEW.install_id) = NEW.install_id
      THEN NULL ELSE home_left_at_ms END;
END;
CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1, over_max = min(over_max, device_count - 1)
  WHERE id = OLD.install_id;
  UPDATE device_provider SET slot_count = slot_count - 1,
    home_left_at_ms = CASE WHEN home_install_id = OLD.install_id
      THEN OLD.last_seen_at_ms ELSE home_left_at_ms END
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
END;
CREATE TRIGGER provider_rides AFTER UPDATE OF ride_version, ride_until_ms ON provider BEGIN
  UPDATE domain SET ride_version = NEW.ride_version, ride_until_ms = NEW.ride_until_ms
  WHERE provider_id = NEW.id;
END;
CREATE TRIGGER domain_rides AFTER INSERT ON domain BEGIN
  UPDATE domain SET (ride_version, ride_until_ms) =
    (SELECT p.ride_version, p.ride_until_ms FROM provider p WHERE p.id = NEW.provider_id)
  WHERE id = NEW.id;
END;
CREATE UNIQUE INDEX `account_name_unique` ON `account` (`name`);
CREATE UNIQUE INDEX `account_role_at_provider` ON `account_role` (`account_id`,`provider_id`) WHERE provider_id IS NOT NULL;
CREATE UNIQUE INDEX `account_role_at_appliance` ON `account_role` (`account_id`) WHERE provider_id IS NULL;
CREATE INDEX `account_role_by_provider` ON `account_role` (`provider_id`);
CREATE INDEX `job_by_provider` ON `job` (`provider_id`,`id`);
CREATE INDEX `job_by_due` ON `job` (`due_at_ms`) WHERE state IN ('waiting', 'running');
CREATE INDEX `job_by_end` ON `job` (`ended_at_ms`) WHERE ended_at_ms IS NOT NULL;
CREATE UNIQUE INDEX `one_time_secret_hash_unique` ON `one_time` (`secret_hash`);
CREATE INDEX `one_time_by_account` ON `one_time` (`account_id`);
CREATE INDEX `one_time_by_provider` ON `one_time` (`provider_id`);
CREATE INDEX `one_time_by_end` ON `one_time` (`until_ms`);
CREATE UNIQUE INDEX `passkey_credential_id_unique` ON `passkey` (`credential_id`);
CREATE INDEX `passkey_by_account` ON `passkey` (`account_id`);
CREATE UNIQUE INDEX `provider_key_by_hash` ON `provider_key` (`provider_id`,`key_hash`);
CREATE UNIQUE INDEX `session_token_hash_unique` ON `session` (`token_hash`);
CREATE INDEX `session_by_account` ON `session` (`account_id`);
CREATE INDEX `session_by_provider` ON `session` (`provider_id`);
CREATE INDEX `session_by_end` ON `session` (`until_ms`);
CREATE UNIQUE INDEX `gate_upstream_name_unique` ON `gate_upstream` (`name`);
CREATE INDEX `device_provider_browser` ON `device_provider` (`browser_install_id`) WHERE browser_install_id IS NOT NULL;
CREATE TRIGGER install_browsers_ended AFTER UPDATE OF install_code, status ON install
WHEN NEW.install_code <> OLD.install_code OR NEW.status = 5 BEGIN
  UPDATE device_provider
  SET browser_install_id = NULL, token_id = NULL, tie_count = tie_count - 1
  WHERE browser_install_id = OLD.id;
END;
CREATE TRIGGER install_browsers_removed AFTER DELETE ON install BEGIN
  UPDATE device_provider
  SET browser_install_id = NULL, token_id = NULL, tie_count = tie_count - 1
  WHERE browser_install_id = OLD.id;
END;
CREATE UNIQUE INDEX `install_by_panel_user` ON `install` (`provider_id`,`panel_user`) WHERE panel_user IS NOT NULL;
COMMIT;
PRAGMA application_id = 1197569125;
PRAGMA user_version = 19;
