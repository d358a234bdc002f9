-- A database as Gatepost 0.2.0 left it, dumped: rows of every table. What that program listed of it is
-- in data-of-0-2-0.json. Never edited.
BEGIN TRANSACTION;
CREATE TABLE `audit` (
	`last_number` integer PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL,
	`prev_hash` blob NOT NULL,
	`hash` blob NOT NULL,
	`entries` text NOT NULL,
	CONSTRAINT "audit_hashes" CHECK(length("audit"."prev_hash") = 32 AND length("audit"."hash") = 32)
);
INSERT INTO "audit" VALUES(1,1795292551866,X'0000000000000000000000000000000000000000000000000000000000000000',X'4717561A2280B00EEDE685DA0E075F51BADE856170A3F40B092851FEA8568DAA','[{"at":"2026-11-21T20:22:31.866Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"Example1","object":{"key":"bc802858","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO "audit" VALUES(2,1795292552053,X'4717561A2280B00EEDE685DA0E075F51BADE856170A3F40B092851FEA8568DAA',X'26557B373ECAD62F3C46BD82C055CA58EEE6C210AAD5864C3B4511ADED80C594','[{"at":"2026-11-21T20:22:32.053Z","who":"operator","name":"root","from":"local","action":"provider.add","provider":"Example2","object":{"key":"2e13a5a5","plan":"enterprise","active_until":null,"max_links":null}}]');
INSERT INTO "audit" VALUES(3,1795292552447,X'26557B373ECAD62F3C46BD82C055CA58EEE6C210AAD5864C3B4511ADED80C594',X'EA6CE01E21CC620021A856551FEABF6A0FA96598196728FBCB9695CD8514895B','[{"at":"2026-11-21T20:22:32.447Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"domain.add","object":{"id":1,"domain_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]');
INSERT INTO "audit" VALUES(4,1795292552466,X'EA6CE01E21CC620021A856551FEABF6A0FA96598196728FBCB9695CD8514895B',X'87E225D1006131FC3ACE3AC84159916E845F145B12D3356CA010715538F0DB94','[{"at":"2026-11-21T20:22:32.466Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"domain.add","object":{"id":2,"domain_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}}]');
INSERT INTO "audit" VALUES(5,1795292552472,X'87E225D1006131FC3ACE3AC84159916E845F145B12D3356CA010715538F0DB94',X'B8BF470C1DD88B11C0AA0ECCC3CD346D092213DC47EF6FCEE419296CDA0A45E6','[{"at":"2026-11-21T20:22:32.472Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":1,"install_limit":5}}]');
INSERT INTO "audit" VALUES(6,1795292552475,X'B8BF470C1DD88B11C0AA0ECCC3CD346D092213DC47EF6FCEE419296CDA0A45E6',X'3FC5F6B670742954F5F68D463C397634F4CD3A7800D7F060DF28EEDE16D7596F','[{"at":"2026-11-21T20:22:32.475Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"install.add","object":{"id":2,"install_limit":5}}]');
INSERT INTO "audit" VALUES(7,1795292552479,X'3FC5F6B670742954F5F68D463C397634F4CD3A7800D7F060DF28EEDE16D7596F',X'5A725A498D9EC40A3A66D4776AB21FD27731FFA6F44655BB1AE5FBFD369381B9','[{"at":"2026-11-21T20:22:32.479Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"install.add","object":{"id":3,"install_limit":5}}]');
INSERT INTO "audit" VALUES(8,1795292552488,X'5A725A498D9EC40A3A66D4776AB21FD27731FFA6F44655BB1AE5FBFD369381B9',X'4C877893709A6CB0EB2FD0F3C71F2A73C1360BE464E07BBB9E4183E7993C0591','[{"at":"2026-11-21T20:22:32.488Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":1,"hwids":1}}]');
INSERT INTO "audit" VALUES(9,1795292552615,X'4C877893709A6CB0EB2FD0F3C71F2A73C1360BE464E07BBB9E4183E7993C0591',X'C8BA731BB0B07D17FB1DD97D873415D80F47BE4127D0FABF6B83989504B63406','[{"at":"2026-11-21T20:22:32.615Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":2,"hwids":1}}]');
INSERT INTO "audit" VALUES(10,1795292552714,X'C8BA731BB0B07D17FB1DD97D873415D80F47BE4127D0FABF6B83989504B63406',X'45CCBFFA5390091926E02A8B0878FEFC6C0E3B03F22F3E10E4088CA1740873B4','[{"at":"2026-11-21T20:22:32.714Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":3,"hwids":1}}]');
INSERT INTO "audit" VALUES(11,1795292552840,X'45CCBFFA5390091926E02A8B0878FEFC6C0E3B03F22F3E10E4088CA1740873B4',X'24F7FA4EB9B4C6C8473D5F920531782A63D0B1E98E93921547BDDA99A40B7A53','[{"at":"2026-11-21T20:22:32.840Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":4,"hwids":1}}]');
INSERT INTO "audit" VALUES(12,1795292553041,X'24F7FA4EB9B4C6C8473D5F920531782A63D0B1E98E93921547BDDA99A40B7A53',X'907203BA00EB87AD7A9BBD5C55DC25995388D27691122B4984C49FA05E62216A','[{"at":"2026-11-21T20:22:33.041Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":5,"action_type":"import-data","hwids":1,"unbound":1}}]');
INSERT INTO "audit" VALUES(13,1795292553154,X'907203BA00EB87AD7A9BBD5C55DC25995388D27691122B4984C49FA05E62216A',X'F010ED1C842E040D6A5721673C9964100E181BEDA5E71CA9A2483D26C43971EA','[{"at":"2026-11-21T20:22:33.154Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"command.send","object":{"id":6,"action_type":"import-data","hwids":1,"unbound":1}}]');
INSERT INTO "audit" VALUES(14,1795292553211,X'F010ED1C842E040D6A5721673C9964100E181BEDA5E71CA9A2483D26C43971EA',X'E3339804CDAE1BA91D34C44BC6FBCB3E98CAB39EFAD7B7119DC334F39BADD299','[{"at":"2026-11-21T20:22:33.211Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"command.send","object":{"id":7,"action_type":"import-data","hwids":1,"unbound":1}}]');
INSERT INTO "audit" VALUES(15,1795292553309,X'E3339804CDAE1BA91D34C44BC6FBCB3E98CAB39EFAD7B7119DC334F39BADD299',X'2CBD998769A49FFB9BEA5786023A5C9FCFE8C1664C418AABC3ED1D30548075A6','[{"at":"2026-11-21T20:22:33.309Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":8,"hwids":1}}]');
INSERT INTO "audit" VALUES(16,1795292553368,X'2CBD998769A49FFB9BEA5786023A5C9FCFE8C1664C418AABC3ED1D30548075A6',X'D02F0161CD9E2621CFCB2D4AB1B87FE58F58CC33456CE362DAB1F95275819F5F','[{"at":"2026-11-21T20:22:33.368Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"notification.send","object":{"id":9,"hwids":1}}]');
INSERT INTO "audit" VALUES(17,1795292553427,X'D02F0161CD9E2621CFCB2D4AB1B87FE58F58CC33456CE362DAB1F95275819F5F',X'C4D8DC59EF22645CF84C345FB94F43B8366ACBC8D3B047DF0F510060D3587F82','[{"at":"2026-11-21T20:22:33.427Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":10,"hwids":1}}]');
INSERT INTO "audit" VALUES(18,1795292553522,X'C4D8DC59EF22645CF84C345FB94F43B8366ACBC8D3B047DF0F510060D3587F82',X'1EE39B0FD7F2D5098FE440E68A52A75C13DF08422B9CC8E1DBA4A8DE1DE7EE88','[{"at":"2026-11-21T20:22:33.522Z","who":"provider","name":"Example1","key":"bc802858","from":"127.0.0.1","action":"notification.send","object":{"id":11,"os":"ios,android"}}]');
INSERT INTO "audit" VALUES(19,1795292553578,X'1EE39B0FD7F2D5098FE440E68A52A75C13DF08422B9CC8E1DBA4A8DE1DE7EE88',X'6FD3D9E65F70D8E1E2B676898B1CEA513024D30752B01BC5739B4865B0AE6D9D','[{"at":"2026-11-21T20:22:33.578Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"notification.send","object":{"id":12,"os":"android","due":"2026-11-26T20:22:00.000Z"}}]');
INSERT INTO "audit" VALUES(20,1795292553582,X'6FD3D9E65F70D8E1E2B676898B1CEA513024D30752B01BC5739B4865B0AE6D9D',X'2B17E2C7C8AAE7D1DF10D6430FF84305FFA43285CD37F8C65E00D605D35C0734','[{"at":"2026-11-21T20:22:33.582Z","who":"provider","name":"Example2","key":"2e13a5a5","from":"127.0.0.1","action":"notification.send","object":{"id":13,"hwids":1}}]');
CREATE TABLE `audit_anchor` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_number` integer NOT NULL,
	`hash` blob NOT NULL,
	`until_ms` integer NOT NULL,
	CONSTRAINT "audit_anchor_once" CHECK("audit_anchor"."id" = 1)
);
CREATE TABLE `device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hwid` text NOT NULL,
	`token_hash` blob,
	`unproven_from_ms` integer,
	`locale` text,
	`push` text,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL
);
INSERT INTO "device" VALUES(1,'by-link',X'1FD1891AF6720DD03AE1EC8199F22E3439D36AF13F2672E2D402357F2F09FEA6',1795292552601,'pt-BR','{"gateway":"fcm","token":"example"}','android','15','Pixel 9','2.1.0','Bun/1.4.5',1795292552483,1795292552601);
INSERT INTO "device" VALUES(2,'by-binding',X'10117B5A034750399972E76E88AAB2EACE26A320314CD1C9EC3B385A85F82BB9',1795292552838,NULL,NULL,'android','15','Pixel 9','2.1.0','Bun/1.4.5',1795292552708,1795292552838);
INSERT INTO "device" VALUES(3,'bare',X'CE9EE9524860A72A8A8EF1DFEC2453D3ED32540DF4F51959C3D148A9A2F369F1',1795292553149,NULL,NULL,'android','15','Pixel 9','2.1.0','Bun/1.4.5',1795292553035,1795292553149);
INSERT INTO "device" VALUES(4,'both',X'CA29548A0600D68EA390AEDD1EC76338FCE5AB4ACC6644CD27F4565B771019BC',1795292553302,NULL,NULL,'android','15','Pixel 9','2.1.0','',1795292553302,1795292553305);
INSERT INTO "device" VALUES(5,'silent',NULL,NULL,NULL,NULL,'ios','','iPhone','','Bun/1.4.5',1795292553425,1795292553425);
INSERT INTO "device" VALUES(6,'seen',NULL,NULL,NULL,NULL,'android','','Secret','','Bun/1.4.5',1795292553639,1795292553639);
CREATE TABLE `device_domain` (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "device_domain" VALUES(2,1,1795292552708);
CREATE TABLE `device_proof` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`is_by_link` integer NOT NULL,
	`from_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "device_proof" VALUES(1,1,1,1795292552483);
INSERT INTO "device_proof" VALUES(2,1,0,1795292552838);
INSERT INTO "device_proof" VALUES(4,1,1,1795292553302);
INSERT INTO "device_proof" VALUES(4,2,1,1795292553305);
CREATE TABLE `device_provider` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "device_provider" VALUES(2,1,1795292552708);
INSERT INTO "device_provider" VALUES(3,2,1795292553035);
INSERT INTO "device_provider" VALUES(6,1,1795292553639);
CREATE TABLE `distribution` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`notification_type` integer NOT NULL,
	`status` integer NOT NULL,
	`target_os` text,
	`target_hwid` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`is_scheduled` integer NOT NULL,
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
	`payload` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "distribution_type" CHECK("distribution"."notification_type" IN (10, 20)),
	CONSTRAINT "distribution_status" CHECK("distribution"."status" IN (5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140))
);
INSERT INTO "distribution" VALUES(1,1,10,100,NULL,'by-link',1795292552488,1795292552488,0,1821212552488,1795292552499,1795292552505,NULL,1795292557505,0,0,0,1,1,0,NULL,NULL,'{"body":"before the token","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(2,1,10,100,NULL,'by-link',1795292552615,1795292552615,0,1821212552615,1795292552633,1795292552643,NULL,1795292557643,0,0,0,1,1,0,NULL,NULL,'{"body":"acknowledged","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(3,1,10,100,NULL,'by-binding',1795292552714,1795292552714,0,1821212552714,1795292552737,1795292552754,NULL,1795292557754,0,0,0,1,1,0,NULL,NULL,'{"body":"before, not its own","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(4,1,10,100,NULL,'by-binding',1795292552840,1795292552840,0,1821212552840,1795292552846,1795292552851,NULL,1795292557851,0,0,0,1,1,0,NULL,NULL,'{"body":"from now on","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(5,1,20,100,NULL,'bare',1795292553041,1795292553041,0,1797884553041,1795292553049,1795292553059,NULL,1795292558059,0,0,1,1,1,0,NULL,NULL,'{"action_type":"import-data","input-data":"dmxlc3M6Ly94"}');
INSERT INTO "distribution" VALUES(6,1,20,100,NULL,'bare',1795292553154,1795292553154,0,1797884553154,1795292553160,1795292553162,NULL,1795292558162,0,0,1,1,1,0,NULL,NULL,'{"action_type":"import-data","input-data":"dmxlc3M6Ly94"}');
INSERT INTO "distribution" VALUES(7,2,20,100,NULL,'bare',1795292553211,1795292553211,0,1797884553211,1795292553255,1795292553268,NULL,1795292558268,0,0,1,1,1,0,NULL,NULL,'{"action_type":"import-data","input-data":"dmxlc3M6Ly94"}');
INSERT INTO "distribution" VALUES(8,1,10,100,NULL,'both',1795292553309,1795292553309,0,1821212553309,1795292553316,1795292553330,NULL,1795292558330,0,0,0,1,1,0,NULL,NULL,'{"body":"of one","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(9,2,10,100,NULL,'both',1795292553368,1795292553368,0,1821212553368,1795292553378,1795292553381,NULL,1795292558381,0,0,0,1,1,0,NULL,NULL,'{"body":"of two","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(10,1,10,100,NULL,'silent',1795292553427,1795292553427,0,1821212553427,1795292553465,1795292553471,NULL,1795292558471,0,0,0,1,1,0,NULL,NULL,'{"body":"for whoever shows the link","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(11,1,10,100,'ios,android','',1795292553522,1795292553522,0,1821212553522,1795292553536,1795292553553,NULL,1795292558553,1,0,0,4,4,0,NULL,NULL,'{"body":"to all","type_push":"optional","expire_days":300}');
INSERT INTO "distribution" VALUES(12,2,10,30,'android','',1795292553578,1795724520000,1,1821644520000,NULL,NULL,NULL,1795292558586,0,0,0,0,0,0,NULL,NULL,'{"body":"later","type_push":"force","expire_days":300}');
INSERT INTO "distribution" VALUES(13,2,10,100,NULL,'both',1795292553582,1795292553582,0,1821212553582,1795292553588,1795292553603,NULL,1795292558603,0,0,0,1,1,0,NULL,NULL,'{"body":"also of two","type_push":"optional","expire_days":300}');
CREATE TABLE `distribution_transition` (
	`from_status` integer NOT NULL,
	`to_status` integer NOT NULL,
	PRIMARY KEY(`from_status`, `to_status`)
);
INSERT INTO "distribution_transition" VALUES(10,20);
INSERT INTO "distribution_transition" VALUES(10,130);
INSERT INTO "distribution_transition" VALUES(10,140);
INSERT INTO "distribution_transition" VALUES(20,30);
INSERT INTO "distribution_transition" VALUES(20,5);
INSERT INTO "distribution_transition" VALUES(20,130);
INSERT INTO "distribution_transition" VALUES(20,140);
INSERT INTO "distribution_transition" VALUES(30,20);
INSERT INTO "distribution_transition" VALUES(30,130);
INSERT INTO "distribution_transition" VALUES(30,140);
INSERT INTO "distribution_transition" VALUES(5,6);
INSERT INTO "distribution_transition" VALUES(5,40);
INSERT INTO "distribution_transition" VALUES(5,140);
INSERT INTO "distribution_transition" VALUES(6,40);
INSERT INTO "distribution_transition" VALUES(6,140);
INSERT INTO "distribution_transition" VALUES(40,100);
INSERT INTO "distribution_transition" VALUES(40,110);
INSERT INTO "distribution_transition" VALUES(40,120);
INSERT INTO "distribution_transition" VALUES(40,140);
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
INSERT INTO "domain" VALUES(1,1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','aaaaaaaaaa',10,1795292552447);
INSERT INTO "domain" VALUES(2,2,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','two',10,1795292552466);
CREATE TABLE `install` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_code` text NOT NULL,
	`install_limit` integer NOT NULL,
	`device_count` integer DEFAULT 0 NOT NULL,
	`status` integer NOT NULL,
	`note` text,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_limit_range" CHECK("install"."install_limit" BETWEEN 1 AND 100),
	CONSTRAINT "install_never_over_full" CHECK("install"."device_count" BETWEEN 0 AND "install"."install_limit"),
	CONSTRAINT "install_status" CHECK("install"."status" IN (5, 10))
);
INSERT INTO "install" VALUES(1,1,'ExampleLink1',5,1,10,'n',1795292552472);
INSERT INTO "install" VALUES(2,1,'ExampleLink2',5,2,10,'n',1795292552475);
INSERT INTO "install" VALUES(3,2,'ExampleLink3',5,1,10,'n',1795292552479);
CREATE TABLE `install_device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`registered_at_ms` integer NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "install_device" VALUES(1,1,1,1795292552483);
INSERT INTO "install_device" VALUES(2,2,4,1795292553302);
INSERT INTO "install_device" VALUES(3,3,4,1795292553305);
INSERT INTO "install_device" VALUES(4,2,5,1795292553425);
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
	`created_at_ms` integer NOT NULL,
	CONSTRAINT "provider_plan" CHECK("provider"."plan" IN ('basic', 'pro', 'enterprise')),
	CONSTRAINT "provider_key_hash" CHECK(length("provider"."key_hash") = 32)
);
INSERT INTO "provider" VALUES(1,'Example1','Магазин','enterprise',X'BC802858C8B031476279ABBAA5852109B0C01E5D8C493384AA49108C0F007972',NULL,NULL,NULL,NULL,NULL,1795292553522,2,1795292551866);
INSERT INTO "provider" VALUES(2,'Example2','Two','enterprise',X'2E13A5A523EA9AA51E4562B9574BD68A5F5D5FF6A400C16958384D1591325893',NULL,NULL,NULL,NULL,NULL,1795292553578,1,1795292552053);
CREATE TABLE `recipient` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`distribution_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`state` integer NOT NULL,
	`is_unbound` integer NOT NULL,
	`is_waiting` integer NOT NULL,
	`queued_at_ms` integer NOT NULL,
	`sent_at_ms` integer,
	`failed_at_ms` integer,
	`expired_at_ms` integer,
	`received_at_ms` integer,
	`opened_at_ms` integer,
	`executed_at_ms` integer,
	`refused_at_ms` integer,
	`detail` text,
	FOREIGN KEY (`distribution_id`) REFERENCES `distribution`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "recipient_state" CHECK("recipient"."state" BETWEEN 1 AND 4)
);
INSERT INTO "recipient" VALUES(1,1,1,2,0,1,1795292552502,1795292552505,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(2,2,1,2,0,0,1795292552636,1795292552643,NULL,NULL,1795292552685,1795292552685,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(3,3,2,2,0,1,1795292552739,1795292552754,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(4,4,2,2,0,1,1795292552846,1795292552851,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(5,5,3,2,1,1,1795292553052,1795292553059,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(6,6,3,2,1,1,1795292553161,1795292553162,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(7,7,3,2,1,1,1795292553260,1795292553268,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(8,8,4,2,0,1,1795292553323,1795292553330,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(9,9,4,2,0,1,1795292553380,1795292553381,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(10,10,5,2,0,1,1795292553468,1795292553471,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(11,11,1,2,0,1,1795292553543,1795292553553,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(12,11,4,2,0,1,1795292553543,1795292553553,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(13,11,5,2,0,1,1795292553543,1795292553553,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(14,11,2,2,0,1,1795292553548,1795292553553,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(15,13,4,2,0,1,1795292553596,1795292553603,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE UNIQUE INDEX `device_by_token` ON `device` (`token_hash`) WHERE token_hash IS NOT NULL;
CREATE INDEX `device_domain_by_domain` ON `device_domain` (`domain_id`,`device_id`);
CREATE UNIQUE INDEX `device_hwid_unique` ON `device` (`hwid`);
CREATE INDEX `device_proof_by_provider` ON `device_proof` (`provider_id`);
CREATE INDEX `device_provider_by_provider` ON `device_provider` (`provider_id`);
CREATE INDEX `distribution_by_provider` ON `distribution` (`provider_id`);
CREATE INDEX `distribution_in_delivery` ON `distribution` (`provider_id`) WHERE status IN (5, 6, 40);
CREATE INDEX `distribution_to_expire` ON `distribution` (`expires_at_ms`) WHERE expired_at_ms IS NULL;
CREATE INDEX `distribution_to_prune` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NULL;
CREATE INDEX `distribution_unbound` ON `distribution` (`provider_id`,`created_at_ms`) WHERE unbound_count > 0;
CREATE INDEX `distribution_unchecked` ON `distribution` (`due_at_ms`) WHERE status IN (10, 20);
CREATE INDEX `distribution_unfinished` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100;
CREATE UNIQUE INDEX `domain_once_per_provider` ON `domain` (`provider_id`,`domain_hash`);
CREATE INDEX `install_by_provider` ON `install` (`provider_id`);
CREATE INDEX `install_device_by_device` ON `install_device` (`device_id`);
CREATE UNIQUE INDEX `install_device_once` ON `install_device` (`install_id`,`device_id`);
CREATE UNIQUE INDEX `install_install_code_unique` ON `install` (`install_code`);
CREATE UNIQUE INDEX `provider_code_unique` ON `provider` (`code`);
CREATE INDEX `recipient_inbox` ON `recipient` (`device_id`,`id`) WHERE is_waiting = 1;
CREATE UNIQUE INDEX `recipient_once` ON `recipient` (`distribution_id`,`device_id`);
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
CREATE TRIGGER install_added AFTER INSERT ON install BEGIN
  UPDATE provider SET install_count = install_count + 1 WHERE id = NEW.provider_id;
END;
CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
END;
CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1 WHERE id = OLD.install_id;
END;
CREATE TRIGGER install_device_stays BEFORE UPDATE OF install_id, device_id ON install_device BEGIN
  SELECT RAISE(ABORT, 'a slot never moves to another link or device');
END;
CREATE TRIGGER install_removed AFTER DELETE ON install BEGIN
  UPDATE provider SET install_count = install_count - 1 WHERE id = OLD.provider_id;
END;
CREATE TRIGGER install_stays BEFORE UPDATE OF provider_id ON install BEGIN
  SELECT RAISE(ABORT, 'a link never moves to another provider');
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('provider',2);
INSERT INTO "sqlite_sequence" VALUES('domain',2);
INSERT INTO "sqlite_sequence" VALUES('install',3);
INSERT INTO "sqlite_sequence" VALUES('device',6);
INSERT INTO "sqlite_sequence" VALUES('install_device',4);
INSERT INTO "sqlite_sequence" VALUES('distribution',13);
INSERT INTO "sqlite_sequence" VALUES('recipient',15);
COMMIT;
PRAGMA application_id = 1197569125;
PRAGMA user_version = 4;
