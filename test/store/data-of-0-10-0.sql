-- A database as Gatepost 0.10.0 left it, dumped: that of 0.9.0, migrated, with a link over
-- its limit, a refused device, a revoked link, a removed one and a call that may be repeated. Never
-- edited.
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
INSERT INTO device VALUES(1,'by-link','','','','','',1795302471420,1795370015582,1);
INSERT INTO device VALUES(2,'by-binding','','','','','',1795302471425,1795370015590,1);
INSERT INTO device VALUES(3,'bare','android','15','Phone','1.2','',1795302471428,1795310876215,0);
INSERT INTO device VALUES(4,'silent','','','','','',1795302471429,1795302471429,1);
INSERT INTO device VALUES(5,'phone-of-0-4-0','','','','','',1795310876193,1795310876193,1);
INSERT INTO device VALUES(6,'tablet-of-0-4-0','','','','','',1795310876197,1795310876197,0);
INSERT INTO device VALUES(7,'pushed-by-fcm','','','','','',1795328368409,1795328368522,1);
INSERT INTO device VALUES(8,'pushed-by-apns','','','','','',1795328368446,1795328368558,1);
INSERT INTO device VALUES(9,'first-of-0-5-0','','','','','',1795328386886,1795328386886,0);
INSERT INTO device VALUES(10,'second-of-0-5-0','','','','','',1795328387023,1795328407796,1);
INSERT INTO device VALUES(11,'stays-of-0-7-0','','','','','',1795370007532,1795370007558,1);
INSERT INTO device VALUES(12,'gone-of-0-7-0','','','','','',1795370007537,1795370007551,1);
INSERT INTO device VALUES(13,'first-of-0-10-0','','','','','',1795410000000,1795410000000,1);
INSERT INTO device VALUES(14,'over-of-0-10-0','','','','','',1795410000000,1795410000000,1);
INSERT INTO device VALUES(15,'only-of-0-10-0','','','','','',1795410000000,1795410000000,1);
INSERT INTO device VALUES(16,'gone-of-0-10-0','','','','','',1795410000000,1795410000000,0);
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
	`payload` text NOT NULL, `handed_over_at_ms` integer, `push_waiting_count` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "distribution_type" CHECK("distribution"."notification_type" IN (10, 20)),
	CONSTRAINT "distribution_status" CHECK("distribution"."status" IN (5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140))
);
INSERT INTO distribution VALUES(1,1,10,100,'ios,android','',1795302471437,1795302471437,0,1821222471437,1795302471445,1795302471449,NULL,1795302476449,1,0,0,2,2,0,NULL,NULL,'{"body":"to all","type_push":"force","expire_days":300}',NULL,0);
INSERT INTO distribution VALUES(2,1,20,100,NULL,'by-link',1795302471442,1795302471442,0,1797894471442,1795302471453,1795302471455,NULL,1795302476455,0,0,0,1,1,0,NULL,NULL,'{"action_type":"update-subscription"}',NULL,0);
INSERT INTO distribution VALUES(3,1,20,100,NULL,'bare',1795302471445,1795302471445,1,1797894471445,1795302471461,1795302471468,NULL,1795302476468,0,0,1,1,1,0,NULL,NULL,'{"action_type":"import-data","input-data":"dmxlc3M6Ly94"}',NULL,0);
INSERT INTO distribution VALUES(4,1,10,30,NULL,'by-link,by-binding',1795302472948,1819789200000,0,1845709200000,NULL,NULL,NULL,1795302477965,0,0,0,0,0,0,NULL,NULL,'{"body":"later","type_push":"force","expire_days":300}',NULL,0);
INSERT INTO distribution VALUES(5,1,20,30,NULL,'bare',1795302472961,1819789200000,1,1822381200000,NULL,NULL,NULL,1795302477970,0,0,1,0,0,0,NULL,NULL,'{"action_type":"import-data","input-data":"bGF0ZXI="}',NULL,0);
INSERT INTO distribution VALUES(6,1,20,30,NULL,'by-link',1795302472965,1819789200000,0,1822381200000,NULL,NULL,NULL,1795302477976,0,0,0,0,0,0,NULL,NULL,'{"action_type":"update-subscription"}',NULL,0);
INSERT INTO distribution VALUES(7,1,10,130,NULL,'by-link',1795302472969,1819789200000,0,1820221200000,NULL,1795302474488,NULL,1795302477976,0,0,0,0,0,0,NULL,NULL,'{"body":"never","type_push":"force","expire_days":5}',NULL,0);
INSERT INTO distribution VALUES(8,1,20,140,NULL,'bare',1795302472976,1819789200000,1,1822381200000,NULL,1795302474546,NULL,1795302477986,0,0,1,0,0,0,1795328360002,NULL,'{"action_type":"import-data","input-data":"YmxvY2tlZA=="}',NULL,0);
INSERT INTO distribution VALUES(9,1,10,100,NULL,'by-link',1795302472980,1795302472980,0,1821222472980,1795302472989,1795302472995,NULL,1795302477995,0,0,0,1,1,0,NULL,NULL,'{"body":"acknowledged","type_push":"optional","expire_days":300}',NULL,0);
INSERT INTO distribution VALUES(10,1,10,100,NULL,'pushed-by-fcm',1795328386937,1795328386937,0,1821248386937,1795328386951,1795328386969,NULL,1795328391974,0,0,0,1,1,0,NULL,NULL,'{"title":"T","body":"of 0.5.0","type_push":"optional","expire_days":300}',NULL,0);
INSERT INTO distribution VALUES(11,1,10,100,NULL,'pushed-by-apns',1795328386981,1795328386981,0,1821248386981,1795328387002,1795328387027,NULL,1795328392035,0,0,0,1,1,0,NULL,NULL,'{"title":"T","body":"of 0.5.0","type_push":"optional","expire_days":300}',NULL,0);
INSERT INTO distribution VALUES(12,1,10,100,NULL,'second-of-0-5-0',1795328407811,1795328407811,0,1821248407811,1795328407822,1795328407826,NULL,1795328412827,0,0,0,1,1,0,NULL,NULL,'{"title":"T","body":"of 0.5.0","type_push":"optional","expire_days":300}',NULL,0);
INSERT INTO distribution VALUES(13,1,10,100,NULL,'stays-of-0-7-0',1795370007569,1795370007569,0,1797962007569,1795370007583,1795370007591,NULL,1795370012593,0,0,0,1,1,0,NULL,NULL,'{"title":"T","body":"for stays-of-0-7-0","type_push":"optional","expire_days":30}',NULL,0);
INSERT INTO distribution VALUES(14,1,10,100,NULL,'gone-of-0-7-0',1795370007577,1795370007577,0,1797962007577,1795370007615,1795370007628,NULL,1795370012630,0,0,0,1,1,0,NULL,NULL,'{"title":"T","body":"for gone-of-0-7-0","type_push":"optional","expire_days":30}',NULL,0);
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
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "domain_status" CHECK("domain"."status" IN (5, 10))
);
INSERT INTO domain VALUES(1,1,'7653e4959f8eac25a7d55884d60580c5c3cf122e12ed0a34f48251bb3ea749ce','7653e4959f',10,1795302471400);
INSERT INTO domain VALUES(2,1,'cd59d56fd6a74d311050631a1bdc2d8c41ba139aa4949c302c542f549ee937d3','second',10,1795302471403);
INSERT INTO domain VALUES(3,2,'7653e4959f8eac25a7d55884d60580c5c3cf122e12ed0a34f48251bb3ea749ce','7653e4959f',10,1795302471408);
INSERT INTO domain VALUES(4,1,'abd92e067baebfccbed1750bc2f20a5caa051793fecf663f0f46e74ed2947a0d','sub-of-0-10-0',10,1795410000000);
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
	`created_at_ms` integer NOT NULL, `domain_count` integer DEFAULT 0 NOT NULL, `kept_bytes` integer DEFAULT 0 NOT NULL, `ledger_count` integer DEFAULT 0 NOT NULL, `sends_from_ms` integer DEFAULT 0 NOT NULL, `send_count` integer DEFAULT 0 NOT NULL, `changes_from_ms` integer DEFAULT 0 NOT NULL, `change_count` integer DEFAULT 0 NOT NULL, `unlisted_count` integer DEFAULT 0 NOT NULL, `inactive_days` integer, `when_full` text, `cool_down_hours` integer, `slot_end_count` integer DEFAULT 0 NOT NULL, `enforce` integer, `without_hwid` text, `tombstone_count` integer DEFAULT 0 NOT NULL, `idempotent_count` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "provider_plan" CHECK("provider"."plan" IN ('basic', 'pro', 'enterprise')),
	CONSTRAINT "provider_key_hash" CHECK(length("provider"."key_hash") = 32)
);
INSERT INTO provider VALUES(1,'Example1','One','enterprise',X'bc802858c8b031476279abbaa5852109b0c01e5d8c493384aa49108c0f007972',NULL,NULL,NULL,NULL,NULL,1795302471437,10,1795302470980,3,3770,10,1795370007569,2,1795370007563,1,0,60,'refuse',NULL,5,NULL,NULL,2,1);
INSERT INTO provider VALUES(2,'Example2','Two','enterprise',X'2e13a5a523ea9aa51e4562b9574bd68a5f5d5ff6a400c16958384d1591325893',NULL,NULL,NULL,NULL,NULL,NULL,1,1795302471130,1,0,0,0,0,0,0,0,NULL,NULL,NULL,0,NULL,NULL,0,0);
CREATE TABLE `audit` (
	`last_number` integer PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL,
	`prev_hash` blob NOT NULL,
	`hash` blob NOT NULL,
	`entries` text NOT NULL,
	CONSTRAINT "audit_hashes" CHECK(length("audit"."prev_hash") = 32 AND length("audit"."hash") = 32)
);
INSERT INTO audit VALUES(1,1795302470980,X'0000000000000000000000000000000000000000000000000000000000000000',X'243209cfa6b86e9cb56c0c12f7fee6e6cc2a4471962ec5e5b033dacb7b2107ea','[{"at":"2026-11-21T23:07:50.980Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"Example1","object":{"key":"bc802858","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(2,1795302471130,X'243209cfa6b86e9cb56c0c12f7fee6e6cc2a4471962ec5e5b033dacb7b2107ea',X'53cbd98b083662f3b4ea9dcfd56b7c4c9285623a39caa93c9db600ba53582ebb','[{"at":"2026-11-21T23:07:51.130Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"Example2","object":{"key":"2e13a5a5","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO audit VALUES(3,1795302471400,X'53cbd98b083662f3b4ea9dcfd56b7c4c9285623a39caa93c9db600ba53582ebb',X'd261e6976d170f01d18e8bbd6695df913d82bb61464d81e69387bc3db35efb84','[{"at":"2026-11-21T23:07:51.400Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"domain.add","object":{"id":1,"domain_hash":"7653e4959f8eac25a7d55884d60580c5c3cf122e12ed0a34f48251bb3ea749ce"}}]');
INSERT INTO audit VALUES(4,1795302471403,X'd261e6976d170f01d18e8bbd6695df913d82bb61464d81e69387bc3db35efb84',X'de6acdd23fe78c670a18d869e2b7726b806e88d50a880f565485c3690e88bca8','[{"at":"2026-11-21T23:07:51.403Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"domain.add","object":{"id":2,"domain_hash":"cd59d56fd6a74d311050631a1bdc2d8c41ba139aa4949c302c542f549ee937d3"}}]');
INSERT INTO audit VALUES(5,1795302471408,X'de6acdd23fe78c670a18d869e2b7726b806e88d50a880f565485c3690e88bca8',X'd4d428f6afa3e55d1270ea1d3db9e5dbcdc20b085ed1f620dbcad925927ab6ac','[{"at":"2026-11-21T23:07:51.408Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"domain.add","object":{"id":3,"domain_hash":"7653e4959f8eac25a7d55884d60580c5c3cf122e12ed0a34f48251bb3ea749ce"}}]');
INSERT INTO audit VALUES(6,1795302471409,X'd4d428f6afa3e55d1270ea1d3db9e5dbcdc20b085ed1f620dbcad925927ab6ac',X'21147904498642adc989a02e24f24513dd0841d457aa21aad4df6104a5edb3c1','[{"at":"2026-11-21T23:07:51.409Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":1,"install_limit":5}}]');
INSERT INTO audit VALUES(7,1795302471412,X'21147904498642adc989a02e24f24513dd0841d457aa21aad4df6104a5edb3c1',X'4b8d4fbf988f59aa4c0ee9e1e66b72e067d0432976a08c88b64fc2ce148d49ca','[{"at":"2026-11-21T23:07:51.412Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":2,"install_limit":2}}]');
INSERT INTO audit VALUES(8,1795302471417,X'4b8d4fbf988f59aa4c0ee9e1e66b72e067d0432976a08c88b64fc2ce148d49ca',X'c07c19080181dccffbd3b9447a9499b729e928f4ba960843c96b12d170c57991','[{"at":"2026-11-21T23:07:51.417Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"install.add","object":{"id":3,"install_limit":3}}]');
INSERT INTO audit VALUES(9,1795302471437,X'c07c19080181dccffbd3b9447a9499b729e928f4ba960843c96b12d170c57991',X'30118b6e6a896a8f62966a6f93d12dec132414b7d9a899f413d7e735bb5cb48f','[{"at":"2026-11-21T23:07:51.437Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":1,"os":"ios,android"}}]');
INSERT INTO audit VALUES(10,1795302471442,X'30118b6e6a896a8f62966a6f93d12dec132414b7d9a899f413d7e735bb5cb48f',X'34b86f14926bb910a31aee2445a48ea9687405e05ca0ed0826180b30ee055f79','[{"at":"2026-11-21T23:07:51.442Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":2,"action_type":"update-subscription","hwids":1}}]');
INSERT INTO audit VALUES(11,1795302471445,X'34b86f14926bb910a31aee2445a48ea9687405e05ca0ed0826180b30ee055f79',X'dab496ab7dd90d4d765c535806b7df1bc1cc54ec49adc22529bda575e8b4658f','[{"at":"2026-11-21T23:07:51.445Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":3,"action_type":"import-data","hwids":1,"unbound":1}}]');
INSERT INTO audit VALUES(12,1795302472948,X'dab496ab7dd90d4d765c535806b7df1bc1cc54ec49adc22529bda575e8b4658f',X'8d439449760ebd03c332f969b213ef78c830c547a3700b72c98c11dd16990cf5','[{"at":"2026-11-21T23:07:52.948Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":4,"hwids":2,"due":"2027-09-01T09:00:00.000Z"}}]');
INSERT INTO audit VALUES(13,1795302472961,X'8d439449760ebd03c332f969b213ef78c830c547a3700b72c98c11dd16990cf5',X'67fbf476eb8a411290805a17b6e357983123aa88c9414ce27ceca56c4cd46583','[{"at":"2026-11-21T23:07:52.961Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":5,"action_type":"import-data","hwids":1,"unbound":1,"due":"2027-09-01T09:00:00.000Z"}}]');
INSERT INTO audit VALUES(14,1795302472965,X'67fbf476eb8a411290805a17b6e357983123aa88c9414ce27ceca56c4cd46583',X'59a656d77a76ccd58c1cd57d6cfda2e1404969bbdf401feaac83fc0873a9d69f','[{"at":"2026-11-21T23:07:52.965Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":6,"action_type":"update-subscription","hwids":1,"due":"2027-09-01T09:00:00.000Z"}}]');
INSERT INTO audit VALUES(15,1795302472969,X'59a656d77a76ccd58c1cd57d6cfda2e1404969bbdf401feaac83fc0873a9d69f',X'5506250f3e829af26d330c05c0fc9b1da618b4c1742a65de276fd0440debbfdf','[{"at":"2026-11-21T23:07:52.969Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":7,"hwids":1,"due":"2027-09-01T09:00:00.000Z"}}]');
INSERT INTO audit VALUES(16,1795302472976,X'5506250f3e829af26d330c05c0fc9b1da618b4c1742a65de276fd0440debbfdf',X'4cf4db84f0f0a34fab400c85634513df7023a5492ac1a5c4be977aa72bac4063','[{"at":"2026-11-21T23:07:52.976Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":8,"action_type":"import-data","hwids":1,"unbound":1,"due":"2027-09-01T09:00:00.000Z"}}]');
INSERT INTO audit VALUES(17,1795302472980,X'4cf4db84f0f0a34fab400c85634513df7023a5492ac1a5c4be977aa72bac4063',X'8c9e467ed4b0eabd1f6147bd7cea0eaf752a6dadb22040b4cebfa386b0256c4d','[{"at":"2026-11-21T23:07:52.980Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":9,"hwids":1}}]');
INSERT INTO audit VALUES(18,1795302474488,X'8c9e467ed4b0eabd1f6147bd7cea0eaf752a6dadb22040b4cebfa386b0256c4d',X'aa5a4e3369e4ebf9bee9d773a9f27d3948d4700edc7be6625fd68d86f90a47c8','[{"at":"2026-11-21T23:07:54.488Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"distribution.cancel","object":{"id":7},"change":{"status":[30,130]}}]');
INSERT INTO audit VALUES(19,1795302474546,X'aa5a4e3369e4ebf9bee9d773a9f27d3948d4700edc7be6625fd68d86f90a47c8',X'd752742492231867ef4ee995170adc6d2cdcdc4abb91ce3e383846c1772ceef1','[{"at":"2026-11-21T23:07:54.546Z","who":"operator","name":"root","from":"local","action":"distribution.block","provider":"Example1","object":{"id":8},"change":{"status":[30,140]}}]');
INSERT INTO audit VALUES(20,1795310846585,X'd752742492231867ef4ee995170adc6d2cdcdc4abb91ce3e383846c1772ceef1',X'61dbe2d057265f137411767844a679697fd02613a584d1af991a3f762d343e0e','[{"at":"2026-11-22T01:27:26.585Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":4,"install_limit":3}}]');
INSERT INTO audit VALUES(21,1795328342676,X'61dbe2d057265f137411767844a679697fd02613a584d1af991a3f762d343e0e',X'9b8411a22c2680a4233f4a36912c44b077d03a263e394e2ad461b0be520fda13','[{"at":"2026-11-22T06:19:02.676Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":5,"install_limit":2}}]');
INSERT INTO audit VALUES(22,1795328368306,X'9b8411a22c2680a4233f4a36912c44b077d03a263e394e2ad461b0be520fda13',X'053465d41185fe5cb40af6a8b8f0b6bcfdffb2ed1d488ae931d6a5db07598ba4','[{"at":"2026-11-22T06:19:28.306Z","who":"operator","name":"root","from":"local","action":"provider.set","provider":"Example1","object":{},"change":{"inactive_days":[null,60],"when_full":[null,"refuse"]}}]');
INSERT INTO audit VALUES(23,1795328368616,X'053465d41185fe5cb40af6a8b8f0b6bcfdffb2ed1d488ae931d6a5db07598ba4',X'57b8ec9ae8adc530b4556e2107bd41f360214a8771d7d63b058f36f958115388','[{"at":"2026-11-22T06:19:28.616Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"hwid.delete","object":{"install_id":4,"hwid_sha256":"80fe60dce27e9c03074da433dd8cd4ba9f500f070168326873403567843e7a4d"}}]');
INSERT INTO audit VALUES(24,1795328386848,X'57b8ec9ae8adc530b4556e2107bd41f360214a8771d7d63b058f36f958115388',X'19d88314824ff1452ad164c19236d1b0e553f78c8068ffa60c786757c1ff7058','[{"at":"2026-11-22T06:19:46.848Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":6,"install_limit":1,"inactive_days":30,"when_full":"replace-oldest","cool_down_hours":1,"subscription_key":"set"}}]');
INSERT INTO audit VALUES(25,1795328386937,X'19d88314824ff1452ad164c19236d1b0e553f78c8068ffa60c786757c1ff7058',X'3b8c733bbc83262b346505ae72aa43111b714440ee9aaabaa3acdf5e48515246','[{"at":"2026-11-22T06:19:46.937Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":10,"hwids":1}}]');
INSERT INTO audit VALUES(26,1795328386981,X'3b8c733bbc83262b346505ae72aa43111b714440ee9aaabaa3acdf5e48515246',X'36cb369379b89dbc5ce4cf1f83c5d9e64001612eca0b97c39c45698717db1aef','[{"at":"2026-11-22T06:19:46.981Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":11,"hwids":1}}]');
INSERT INTO audit VALUES(27,1795328407811,X'36cb369379b89dbc5ce4cf1f83c5d9e64001612eca0b97c39c45698717db1aef',X'cba2bc4fd87c256cfeb71d0906229cd168e76d637e96b19ae03312b4245fbcde','[{"at":"2026-11-22T06:20:07.811Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":12,"hwids":1}}]');
INSERT INTO audit VALUES(28,1795370006892,X'cba2bc4fd87c256cfeb71d0906229cd168e76d637e96b19ae03312b4245fbcde',X'fd4f275206e8c277ee9a7ffb7f8df2c135db47403b54b128aa0cfa14422ef70c','[{"at":"2026-11-22T17:53:26.892Z","who":"operator","name":"root","from":"local","action":"webhook.add","provider":"Example1","object":{"id":1,"kind":"webhook","events":"all"}}]');
INSERT INTO audit VALUES(29,1795370007291,X'fd4f275206e8c277ee9a7ffb7f8df2c135db47403b54b128aa0cfa14422ef70c',X'622115b3e7a4dc0b2172fa91edb3de5012a2aa5ce666a03bd06cdfcb8d7a2790','[{"at":"2026-11-22T17:53:27.291Z","who":"operator","name":"root","from":"local","action":"webhook.add","provider":"Example1","object":{"id":2,"kind":"webhook","events":"all"}}]');
INSERT INTO audit VALUES(30,1795370007467,X'622115b3e7a4dc0b2172fa91edb3de5012a2aa5ce666a03bd06cdfcb8d7a2790',X'7ef299294cdd50be0d6a740ad9fe2f7668843f12a592d5012b4ba56196e6df7b','[{"at":"2026-11-22T17:53:27.467Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":7,"install_limit":5}}]');
INSERT INTO audit VALUES(31,1795370007506,X'7ef299294cdd50be0d6a740ad9fe2f7668843f12a592d5012b4ba56196e6df7b',X'08555e977a14e0ec76765d3f7c8aa7ecaf691a8663327dea69b8c0e988b01a26','[{"at":"2026-11-22T17:53:27.506Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":8,"install_limit":5}}]');
INSERT INTO audit VALUES(32,1795370007563,X'08555e977a14e0ec76765d3f7c8aa7ecaf691a8663327dea69b8c0e988b01a26',X'8e21d9bbaa2223a09018b5fea1ee4619945625c58f9dac36db8f68563c13b636','[{"at":"2026-11-22T17:53:27.563Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"hwid.delete","object":{"install_id":7,"hwid_sha256":"fd599813143a72db9b4e4d91fdbd738e1b421ea30db6be793a472e434b4474a3"}}]');
INSERT INTO audit VALUES(33,1795370007569,X'8e21d9bbaa2223a09018b5fea1ee4619945625c58f9dac36db8f68563c13b636',X'd226c48cae0139000d8eb8c9a0abc3b1ee6103d7b54b8b5c0be0b4b8947da3be','[{"at":"2026-11-22T17:53:27.569Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":13,"hwids":1}}]');
INSERT INTO audit VALUES(34,1795370007577,X'd226c48cae0139000d8eb8c9a0abc3b1ee6103d7b54b8b5c0be0b4b8947da3be',X'4bb5727c46a8c5a48c078bb27e687f719f0d860301963ced2deec1249fdf2f2a','[{"at":"2026-11-22T17:53:27.577Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":14,"hwids":1}}]');
INSERT INTO audit VALUES(35,1795410000000,X'4bb5727c46a8c5a48c078bb27e687f719f0d860301963ced2deec1249fdf2f2a',X'e23a5fe2255f760b6281365345eda4373f4a1d517720791c955b0e74f62b0c17','[{"at":"2026-11-23T05:00:00.000Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"domain.add","object":{"id":4,"domain_hash":"abd92e067baebfccbed1750bc2f20a5caa051793fecf663f0f46e74ed2947a0d"}}]');
INSERT INTO audit VALUES(36,1795410000000,X'e23a5fe2255f760b6281365345eda4373f4a1d517720791c955b0e74f62b0c17',X'f8135ae884c52000f7b4fb572343e4089b9d65b4ff5400374ae7471de69d6268','[{"at":"2026-11-23T05:00:00.000Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":9,"install_limit":1,"enforce":0}}]');
INSERT INTO audit VALUES(37,1795410000000,X'f8135ae884c52000f7b4fb572343e4089b9d65b4ff5400374ae7471de69d6268',X'28a3cd2f7059ee532509209e625cebbf641e78f8634da00246a08567db8c415d','[{"at":"2026-11-23T05:00:00.000Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":10,"install_limit":1}}]');
INSERT INTO audit VALUES(38,1795410000000,X'28a3cd2f7059ee532509209e625cebbf641e78f8634da00246a08567db8c415d',X'0b0599369e97ef635edde5b22acf12d39034e07e0aa41828c911990260886277','[{"at":"2026-11-23T05:00:00.000Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":11,"install_limit":3}}]');
INSERT INTO audit VALUES(39,1795410000000,X'0b0599369e97ef635edde5b22acf12d39034e07e0aa41828c911990260886277',X'7bc44348a12bd219e2725e7aa64af9af19647cbefb7f8b6dce6a2bdc630c196a','[{"at":"2026-11-23T05:00:00.000Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":12,"install_limit":3}}]');
INSERT INTO audit VALUES(40,1795176000000,X'7bc44348a12bd219e2725e7aa64af9af19647cbefb7f8b6dce6a2bdc630c196a',X'77091f8f884259f7189e9a793736b2f630e7e2bd662381d0b504637197d66530','[{"at":"2026-11-20T12:00:00.000Z","who":"operator","name":"tester","from":"local","action":"install.remove","provider":"Example1","object":{"id":12,"hwids":1}}]');
INSERT INTO audit VALUES(41,1795176000000,X'77091f8f884259f7189e9a793736b2f630e7e2bd662381d0b504637197d66530',X'da4510ec8d1f47be7e1024c7d1fa8c940197361ccc7a6cae3f11fced1c88f27f','[{"at":"2026-11-20T12:00:00.000Z","who":"operator","name":"tester","from":"local","action":"install.revoke","provider":"Example1","object":{"id":11,"hwids":2}}]');
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
INSERT INTO device_token VALUES(1,1,X'bde9dee39ff9b8c42608bada3ff4a0cb36bb1e67324d9924f37c71ec85d2867c',NULL,NULL,0,0,0,NULL,NULL,1795370015582,NULL);
INSERT INTO device_token VALUES(2,2,X'a56ea3bf81ab9972efb244428888eaee5521e5c279c3f861a530dee044462020',NULL,NULL,0,0,0,NULL,NULL,1795370015590,NULL);
INSERT INTO device_token VALUES(3,3,X'c4e836a0f7d742415f2403fc9e837dda4223bb25c7dba93378e22aed784c16bb',NULL,NULL,1,0,0,NULL,NULL,1795310876215,NULL);
INSERT INTO device_token VALUES(4,7,X'55fb553c0b6332b06c07bdcb6dd9686ea54eca72c9f56edad3b7e3ec23aa9321','ru','{"gateway":"fcm","token":"an-fcm-token-of-0-5-0"}',0,9,5,NULL,NULL,1795328368522,NULL);
INSERT INTO device_token VALUES(5,8,X'361ee12827f4a18e6df92526aff299e05bdc5ec85e68a50fd391f4299341f76d',NULL,'{"gateway":"apns","token":"00ff00ff"}',0,9,5,NULL,NULL,1795328368558,NULL);
INSERT INTO device_token VALUES(6,10,X'c50320f640d70c7bb8a3f6b834b672706d9d07a17379f3223ad50234180e825a',NULL,'{"gateway":"webpush","token":{"endpoint":"https://push.example/old","keys":{}}}',0,11,7,NULL,NULL,1795328407796,NULL);
INSERT INTO device_token VALUES(7,11,X'451da9b65e19dde33ebf3a11eca3d2c30bad7a129fffba964e35b8625a49357c',NULL,NULL,0,12,8,NULL,NULL,1795370007558,NULL);
INSERT INTO device_token VALUES(8,12,X'59d8ba69ce2f3c58724229bd669a73a330d75c3b5daf2f73452ee0dcbaa630ef',NULL,NULL,0,12,8,NULL,NULL,1795370007551,NULL);
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
INSERT INTO install_device VALUES(1,1,1,1,1795302471420,0,1795302471420);
INSERT INTO install_device VALUES(2,3,4,2,1795302471429,0,1795302471429);
INSERT INTO install_device VALUES(3,4,5,1,1795310876193,5,1795310876193);
INSERT INTO install_device VALUES(5,5,7,1,1795328368409,5,1795328368522);
INSERT INTO install_device VALUES(6,5,8,1,1795328368446,5,1795328368558);
INSERT INTO install_device VALUES(8,6,10,1,1795328387023,7,1795328407796);
INSERT INTO install_device VALUES(9,7,11,1,1795370007532,8,1795370007532);
INSERT INTO install_device VALUES(11,8,12,1,1795370007551,8,1795370007551);
INSERT INTO install_device VALUES(12,8,11,1,1795370007558,8,1795370007558);
INSERT INTO install_device VALUES(13,9,13,1,1795410000000,10,1795410000000);
INSERT INTO install_device VALUES(14,9,14,1,1795410000000,10,1795410000000);
INSERT INTO install_device VALUES(15,10,15,1,1795410000000,10,1795410000000);
CREATE TABLE IF NOT EXISTS "device_domain" (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO device_domain VALUES(2,2,1,1795302471425);
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
	`detail` text, `push_state` integer, `pushed_at_ms` integer, `push_problem` text,
	FOREIGN KEY (`distribution_id`) REFERENCES `distribution`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "recipient_state" CHECK("recipient"."state" BETWEEN 1 AND 4),
	CONSTRAINT "recipient_inbox_of" CHECK("recipient"."inbox" <> 0)
);
INSERT INTO recipient VALUES(1,1,2,2,1,1,1795302471446,1795302471449,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(2,1,1,2,1,1,1795302471447,1795302471449,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(3,2,1,2,1,1,1795302471454,1795302471455,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(4,3,3,2,-1,1,1795302471462,1795302471468,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(5,9,1,2,1,0,1795302472990,1795302472995,NULL,NULL,1795302474655,1795302474655,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(6,10,7,2,1,0,1795328386956,1795328386969,NULL,NULL,1795328410307,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(7,11,8,2,1,1,1795328387010,1795328387027,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(8,12,10,2,1,1,1795328407823,1795328407826,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(9,13,11,2,1,1,1795370007586,1795370007591,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO recipient VALUES(10,14,12,2,1,1,1795370007619,1795370007628,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE `appliance` (
	`id` integer PRIMARY KEY NOT NULL,
	`stranger_count` integer NOT NULL,
	CONSTRAINT "appliance_once" CHECK("appliance"."id" = 1)
);
INSERT INTO appliance VALUES(1,4);
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
	`after_slot_id` integer DEFAULT 0 NOT NULL, `checked_in_at_ms` integer DEFAULT 0 NOT NULL, `claim_install_id` integer, `seen_apart` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`token_id`) REFERENCES `device_token`(`id`) ON UPDATE no action ON DELETE set null
) WITHOUT ROWID;
INSERT INTO device_provider VALUES(1,1,'android','15','Phone','1.2','',1795370015582,1,0,1,1,0,1,1795370015582,1,0);
INSERT INTO device_provider VALUES(2,1,'ios','15','Phone','1.2','',1795370015590,0,1,2,0,0,1,1795370015590,NULL,0);
INSERT INTO device_provider VALUES(4,2,'android','','','','Bun/1.4.5',1795302471429,1,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(5,1,'android','','Model phone-','','Python-urllib/3.11',1795310876193,1,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(6,1,'android','','Model tablet','','Python-urllib/3.11',1795310876197,0,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(7,1,'android','','','','curl/7.88.1',1795328368522,1,0,4,1,5,6,0,5,0);
INSERT INTO device_provider VALUES(8,1,'ios','','','','curl/7.88.1',1795328368558,1,0,5,1,5,6,0,5,0);
INSERT INTO device_provider VALUES(9,1,'android','','M','','curl/7.88.1',1795328386886,0,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(10,1,'android','','','','curl/7.88.1',1795328407796,1,0,6,1,7,8,0,6,0);
INSERT INTO device_provider VALUES(11,1,'android','','','','Python-urllib/3.11',1795370007558,2,0,7,1,8,9,0,7,0);
INSERT INTO device_provider VALUES(12,1,'android','','','','Python-urllib/3.11',1795370007551,1,0,8,1,8,10,0,NULL,0);
INSERT INTO device_provider VALUES(13,1,'android','','Pixel','','Happ/3.1.0',1795410000000,1,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(14,1,'android','','Pixel','','Happ/3.1.0',1795410000000,1,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(15,1,'android','','Pixel','','Happ/3.1.0',1795410000000,1,0,NULL,0,0,0,0,NULL,0);
INSERT INTO device_provider VALUES(16,1,'android','','Pixel','','Happ/3.1.0',1795410000000,0,0,NULL,0,0,0,0,NULL,0);
CREATE TABLE `install_refusal` (
	`install_id` integer PRIMARY KEY NOT NULL,
	`refused_count` integer NOT NULL,
	`refused_at_ms` integer NOT NULL,
	`reason` text NOT NULL, `day` integer DEFAULT 0 NOT NULL, `day_count` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO install_refusal VALUES(5,1,1795328368489,'link_limit_reached',0,0);
INSERT INTO install_refusal VALUES(10,1,1795410000000,'link_limit_reached',20780,1);
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
	`expired` integer DEFAULT 0 NOT NULL, `admitted_over` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`provider_id`, `day`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
INSERT INTO provider_day VALUES(1,20777,0,0,0,0,0,0,3,0,0,0,0,0,0,0,0,0,0);
INSERT INTO provider_day VALUES(1,20779,8,8,0,0,0,1,3,4,5,5,5,1,0,0,0,0,0);
INSERT INTO provider_day VALUES(1,20780,6,4,0,0,0,1,0,4,0,0,0,0,0,0,0,0,1);
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
INSERT INTO slot_end VALUES(1,4,1,6,1795310876197,1795310876197,1795328368616,'deleted','Example1',NULL);
INSERT INTO slot_end VALUES(2,6,1,9,1795328386886,1795328386886,1795328387023,'replaced','device',10);
INSERT INTO slot_end VALUES(3,7,1,12,1795370007537,1795370007537,1795370007563,'deleted','Example1',NULL);
INSERT INTO slot_end VALUES(5,11,1,13,1795410000000,1795410000000,1795176000000,'deleted','tester',NULL);
INSERT INTO slot_end VALUES(6,11,1,16,1795410000000,1795410000000,1795176000000,'deleted','tester',NULL);
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
INSERT INTO destination VALUES(1,'webhook','',1,19,NULL,1795370037638,0,NULL,0,NULL,NULL);
INSERT INTO destination VALUES(2,'webhook','',2,28,NULL,1795401486561,14,1795370007537,1795401808702,NULL,'the address is not an https address');
CREATE TABLE `event` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`at_ms` integer NOT NULL,
	`data` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO event VALUES(1,1,'link.created',1795370007467,'{"install_id":7,"install_limit":5}');
INSERT INTO event VALUES(2,1,'link.created',1795370007506,'{"install_id":8,"install_limit":5}');
INSERT INTO event VALUES(3,1,'device.admitted',1795370007532,'{"install_id":7,"install_count":1,"install_limit":5,"hwid":"stays-of-0-7-0"}');
INSERT INTO event VALUES(4,1,'device.admitted',1795370007537,'{"install_id":7,"install_count":2,"install_limit":5,"hwid":"gone-of-0-7-0"}');
INSERT INTO event VALUES(5,1,'device.admitted',1795370007551,'{"install_id":8,"install_count":1,"install_limit":5,"hwid":"gone-of-0-7-0"}');
INSERT INTO event VALUES(6,1,'device.admitted',1795370007558,'{"install_id":8,"install_count":2,"install_limit":5,"hwid":"stays-of-0-7-0"}');
INSERT INTO event VALUES(7,1,'device.removed',1795370007563,'{"install_id":7,"install_count":1,"install_limit":5,"hwid":"gone-of-0-7-0","why":"deleted"}');
INSERT INTO event VALUES(8,1,'distribution.finished',1795370007591,'{"distribution_id":13,"type":"notification","status":100,"recipients":1,"sent":1,"failed":0}');
INSERT INTO event VALUES(9,1,'distribution.finished',1795370007628,'{"distribution_id":14,"type":"notification","status":100,"recipients":1,"sent":1,"failed":0}');
INSERT INTO event VALUES(10,1,'link.created',1795410000000,'{"install_id":9,"install_limit":1}');
INSERT INTO event VALUES(11,1,'link.created',1795410000000,'{"install_id":10,"install_limit":1}');
INSERT INTO event VALUES(12,1,'link.created',1795410000000,'{"install_id":11,"install_limit":3}');
INSERT INTO event VALUES(13,1,'device.admitted',1795410000000,'{"install_id":9,"install_count":1,"install_limit":1,"hwid":"first-of-0-10-0"}');
INSERT INTO event VALUES(14,1,'link.full',1795410000000,'{"install_id":9,"install_count":1,"install_limit":1}');
INSERT INTO event VALUES(15,1,'device.admitted',1795410000000,'{"install_id":9,"install_count":2,"install_limit":1,"hwid":"over-of-0-10-0"}');
INSERT INTO event VALUES(16,1,'link.over_limit',1795410000000,'{"install_id":9,"install_count":2,"install_limit":1,"hwid":"over-of-0-10-0"}');
INSERT INTO event VALUES(17,1,'device.admitted',1795410000000,'{"install_id":10,"install_count":1,"install_limit":1,"hwid":"only-of-0-10-0"}');
INSERT INTO event VALUES(18,1,'link.full',1795410000000,'{"install_id":10,"install_count":1,"install_limit":1}');
INSERT INTO event VALUES(19,1,'link.refused',1795410000000,'{"install_id":10,"code":"Exam…","note":null,"reason":"link_limit_reached","count":1,"day":"2026-11-23","hwid":"refused-of-0-10-0","device_name":"Pixel","os":"android"}');
INSERT INTO event VALUES(20,1,'device.admitted',1795410000000,'{"install_id":11,"install_count":1,"install_limit":3,"hwid":"first-of-0-10-0"}');
INSERT INTO event VALUES(21,1,'device.admitted',1795410000000,'{"install_id":11,"install_count":2,"install_limit":3,"hwid":"gone-of-0-10-0"}');
INSERT INTO event VALUES(22,1,'link.created',1795410000000,'{"install_id":12,"install_limit":3}');
INSERT INTO event VALUES(23,1,'device.admitted',1795410000000,'{"install_id":12,"install_count":1,"install_limit":3,"hwid":"gone-of-0-10-0"}');
INSERT INTO event VALUES(24,1,'device.removed',1795176000000,'{"install_id":12,"install_count":0,"install_limit":3,"hwid":"gone-of-0-10-0","why":"deleted"}');
INSERT INTO event VALUES(25,1,'link.removed',1795176000000,'{"install_id":12,"freed":1}');
INSERT INTO event VALUES(26,1,'device.removed',1795176000000,'{"install_id":11,"install_count":1,"install_limit":3,"hwid":"first-of-0-10-0","why":"deleted"}');
INSERT INTO event VALUES(27,1,'device.removed',1795176000000,'{"install_id":11,"install_count":0,"install_limit":3,"hwid":"gone-of-0-10-0","why":"deleted"}');
INSERT INTO event VALUES(28,1,'link.revoked',1795176000000,'{"install_id":11,"freed":2,"had_subscription_key":false}');
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
INSERT INTO outbox VALUES(2,2,1795370328235,1795370007467,2,NULL,1,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(4,2,1795370013046,1795370007506,1,NULL,2,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(6,2,1795370358257,1795370007532,2,NULL,3,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(8,2,1795370012914,1795370007537,1,NULL,4,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(10,2,1795401766509,1795370007551,2,NULL,5,'the address is not an https address');
INSERT INTO outbox VALUES(12,2,1795370313074,1795370007558,2,NULL,6,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(14,2,1795370013088,1795370007563,1,NULL,7,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(16,2,1795370012969,1795370007591,1,NULL,8,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(18,2,1795370013135,1795370007628,1,NULL,9,'the receiver answered 500: it has a fault of its own');
INSERT INTO outbox VALUES(19,1,0,1795410000000,0,NULL,10,NULL);
INSERT INTO outbox VALUES(20,2,0,1795410000000,0,NULL,10,NULL);
INSERT INTO outbox VALUES(21,1,0,1795410000000,0,NULL,11,NULL);
INSERT INTO outbox VALUES(22,2,0,1795410000000,0,NULL,11,NULL);
INSERT INTO outbox VALUES(23,1,0,1795410000000,0,NULL,12,NULL);
INSERT INTO outbox VALUES(24,2,0,1795410000000,0,NULL,12,NULL);
INSERT INTO outbox VALUES(25,1,0,1795410000000,0,NULL,13,NULL);
INSERT INTO outbox VALUES(26,2,0,1795410000000,0,NULL,13,NULL);
INSERT INTO outbox VALUES(27,1,0,1795410000000,0,NULL,14,NULL);
INSERT INTO outbox VALUES(28,2,0,1795410000000,0,NULL,14,NULL);
INSERT INTO outbox VALUES(29,1,0,1795410000000,0,NULL,15,NULL);
INSERT INTO outbox VALUES(30,2,0,1795410000000,0,NULL,15,NULL);
INSERT INTO outbox VALUES(31,1,0,1795410000000,0,NULL,16,NULL);
INSERT INTO outbox VALUES(32,2,0,1795410000000,0,NULL,16,NULL);
INSERT INTO outbox VALUES(33,1,0,1795410000000,0,NULL,17,NULL);
INSERT INTO outbox VALUES(34,2,0,1795410000000,0,NULL,17,NULL);
INSERT INTO outbox VALUES(35,1,0,1795410000000,0,NULL,18,NULL);
INSERT INTO outbox VALUES(36,2,0,1795410000000,0,NULL,18,NULL);
INSERT INTO outbox VALUES(37,1,0,1795410000000,0,NULL,19,NULL);
INSERT INTO outbox VALUES(38,2,0,1795410000000,0,NULL,19,NULL);
INSERT INTO outbox VALUES(39,1,0,1795410000000,0,NULL,20,NULL);
INSERT INTO outbox VALUES(40,2,0,1795410000000,0,NULL,20,NULL);
INSERT INTO outbox VALUES(41,1,0,1795410000000,0,NULL,21,NULL);
INSERT INTO outbox VALUES(42,2,0,1795410000000,0,NULL,21,NULL);
INSERT INTO outbox VALUES(43,1,0,1795410000000,0,NULL,22,NULL);
INSERT INTO outbox VALUES(44,2,0,1795410000000,0,NULL,22,NULL);
INSERT INTO outbox VALUES(45,1,0,1795410000000,0,NULL,23,NULL);
INSERT INTO outbox VALUES(46,2,0,1795410000000,0,NULL,23,NULL);
INSERT INTO outbox VALUES(47,1,0,1795176000000,0,NULL,24,NULL);
INSERT INTO outbox VALUES(48,2,0,1795176000000,0,NULL,24,NULL);
INSERT INTO outbox VALUES(49,1,0,1795176000000,0,NULL,25,NULL);
INSERT INTO outbox VALUES(50,2,0,1795176000000,0,NULL,25,NULL);
INSERT INTO outbox VALUES(51,1,0,1795176000000,0,NULL,26,NULL);
INSERT INTO outbox VALUES(52,2,0,1795176000000,0,NULL,26,NULL);
INSERT INTO outbox VALUES(53,1,0,1795176000000,0,NULL,27,NULL);
INSERT INTO outbox VALUES(54,2,0,1795176000000,0,NULL,27,NULL);
INSERT INTO outbox VALUES(55,1,0,1795176000000,0,NULL,28,NULL);
INSERT INTO outbox VALUES(56,2,0,1795176000000,0,NULL,28,NULL);
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
INSERT INTO webhook VALUES(1,1,'webhook','http://127.0.0.1:18472/good','','v1','whsec_zrvw6iMAzXSBE98V5sLXGJAhZtr6QLLf8o52WJVgbC4=',NULL,NULL,'',1795370006892,NULL,NULL);
INSERT INTO webhook VALUES(2,1,'webhook','http://127.0.0.1:18472/bad','','v1','whsec_F05yvuSevvn7qZ+NiF3bwrewuIuRU+yNTFpU0SHyIcs=',NULL,NULL,'',1795370007291,NULL,NULL);
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
INSERT INTO webhook_delivery VALUES(1,1,1,1,1795370007529,NULL);
INSERT INTO webhook_delivery VALUES(1,2,1,1,1795370007538,NULL);
INSERT INTO webhook_delivery VALUES(1,3,1,1,1795370007558,NULL);
INSERT INTO webhook_delivery VALUES(1,4,1,1,1795370007558,NULL);
INSERT INTO webhook_delivery VALUES(1,5,1,1,1795370007571,NULL);
INSERT INTO webhook_delivery VALUES(1,6,1,1,1795370007581,NULL);
INSERT INTO webhook_delivery VALUES(1,7,1,1,1795370007586,NULL);
INSERT INTO webhook_delivery VALUES(1,8,1,1,1795370007611,NULL);
INSERT INTO webhook_delivery VALUES(1,9,1,1,1795370007637,NULL);
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
INSERT INTO idempotent_call VALUES(1,'key-of-0-10-0','add-install',X'30981b1ad6029fe80345404504e8e2ce423f80c30fd0032ea81f4716fb1eafdf','{"id":9,"installCode":"ExampleLin10"}',1795410000000);
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
INSERT INTO install_tombstone VALUES(1,1,'ExampleLin14',NULL,1795176000000,'removed');
INSERT INTO install_tombstone VALUES(2,1,'ExampleLin12',NULL,1795176000000,'revoked');
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
INSERT INTO refused_device VALUES(10,'refused-of-0-10-0','Pixel','android','link_limit_reached',1,1795410000000,1795410000000);
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
	`over_max` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_limit_range" CHECK("install"."install_limit" BETWEEN 1 AND 100),
	CONSTRAINT "install_never_over_full" CHECK("install"."device_count" >= 0 AND ("install"."device_count" <= "install"."install_limit" OR "install"."device_count" <= "install"."over_max")),
	CONSTRAINT "install_over_max" CHECK("install"."over_max" BETWEEN 0 AND 100),
	CONSTRAINT "install_status" CHECK("install"."status" IN (5, 10))
);
INSERT INTO install VALUES(1,1,'ExampleLink1',5,1,10,'n',1795302471409,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(2,1,'ExampleLink2',2,0,10,NULL,1795302471412,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(3,2,'ExampleLink3',3,1,10,NULL,1795302471417,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(4,1,'ExampleLink4',3,1,10,'of 0.4.0',1795310846585,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(5,1,'ExampleLink5',2,2,10,'of 0.5.0',1795328342676,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(6,1,'ExampleLink6',1,1,10,'policy of 0.5.0',1795328386848,X'24924a221ea70e17901a0047b4d52aa356aa9be31063f3c99f55798c6fcc10a2',30,'replace-oldest',1,1795328387023,NULL,NULL,0);
INSERT INTO install VALUES(7,1,'ExampleLink7',5,1,10,NULL,1795370007467,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(8,1,'ExampleLink8',5,2,10,NULL,1795370007506,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(9,1,'ExampleLin10',1,2,10,'over',1795410000000,NULL,NULL,NULL,NULL,NULL,0,NULL,2);
INSERT INTO install VALUES(10,1,'ExampleLin11',1,1,10,NULL,1795410000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO install VALUES(11,1,'iDWbBi2Gsghr',3,0,10,NULL,1795410000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('device_token',8);
INSERT INTO sqlite_sequence VALUES('install_device',18);
INSERT INTO sqlite_sequence VALUES('recipient',10);
INSERT INTO sqlite_sequence VALUES('provider',2);
INSERT INTO sqlite_sequence VALUES('domain',4);
INSERT INTO sqlite_sequence VALUES('device',16);
INSERT INTO sqlite_sequence VALUES('distribution',14);
INSERT INTO sqlite_sequence VALUES('slot_end',6);
INSERT INTO sqlite_sequence VALUES('webhook',2);
INSERT INTO sqlite_sequence VALUES('destination',2);
INSERT INTO sqlite_sequence VALUES('event',28);
INSERT INTO sqlite_sequence VALUES('outbox',56);
INSERT INTO sqlite_sequence VALUES('install',12);
INSERT INTO sqlite_sequence VALUES('install_tombstone',2);
CREATE UNIQUE INDEX `device_hwid_unique` ON `device` (`hwid`);
CREATE INDEX `distribution_by_provider` ON `distribution` (`provider_id`);
CREATE INDEX `distribution_unchecked` ON `distribution` (`due_at_ms`) WHERE status IN (10, 20);
CREATE INDEX `distribution_to_prune` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NULL;
CREATE INDEX `distribution_unbound` ON `distribution` (`provider_id`,`created_at_ms`) WHERE unbound_count > 0;
CREATE UNIQUE INDEX `domain_once_per_provider` ON `domain` (`provider_id`,`domain_hash`);
CREATE UNIQUE INDEX `provider_code_unique` ON `provider` (`code`);
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
CREATE INDEX `distribution_pruned` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NOT NULL;
CREATE INDEX `distribution_to_expire` ON `distribution` (`expires_at_ms`) WHERE expired_at_ms IS NULL AND status >= 100;
CREATE INDEX `domain_by_provider` ON `domain` (`provider_id`);
CREATE INDEX `device_stranger` ON `device` (`last_seen_at_ms`) WHERE holder_count = 0;
CREATE INDEX `device_provider_by_os` ON `device_provider` (`provider_id`,`os`,`device_id`);
CREATE INDEX `device_provider_by_token` ON `device_provider` (`token_id`) WHERE token_id IS NOT NULL;
CREATE INDEX `device_provider_idle` ON `device_provider` (`last_seen_at_ms`) WHERE slot_count = 0 AND tie_count = 0;
CREATE INDEX `provider_day_by_day` ON `provider_day` (`day`);
CREATE INDEX `slot_end_by_install` ON `slot_end` (`install_id`,`id`);
CREATE INDEX `slot_end_by_provider` ON `slot_end` (`provider_id`,`id`);
CREATE INDEX `slot_end_by_device` ON `slot_end` (`device_id`) WHERE device_id IS NOT NULL;
CREATE INDEX `slot_end_by_newcomer` ON `slot_end` (`for_device_id`) WHERE for_device_id IS NOT NULL;
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
CREATE TRIGGER slot_end_added AFTER INSERT ON slot_end BEGIN
  UPDATE provider SET slot_end_count = slot_end_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER slot_end_removed AFTER DELETE ON slot_end BEGIN
  UPDATE provider SET slot_end_count = slot_end_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER slot_end_stays BEFORE UPDATE OF install_id, provider_id ON slot_end BEGIN
  SELECT RAISE(ABORT, 'the end of a slot stays with its link');
END;
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
CREATE TRIGGER install_added AFTER INSERT ON install BEGIN
  UPDATE provider SET install_count = install_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER install_removed AFTER DELETE ON install BEGIN
  UPDATE provider SET install_count = install_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER install_stays BEFORE UPDATE OF provider_id ON install BEGIN
  SELECT RAISE(ABORT, 'a link never moves to another provider');
END;
CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, slot_count)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.registered_at_ms, 1)
  ON CONFLICT DO UPDATE SET slot_count = slot_count + 1;
END;
CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1, over_max = min(over_max, device_count - 1)
  WHERE id = OLD.install_id;
  UPDATE device_provider SET slot_count = slot_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
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
COMMIT;
PRAGMA application_id = 1197569125;
PRAGMA user_version = 14;
