-- A database as Gatepost 0.1.0 left it, dumped: rows of every table. What that program listed of it is
-- in data-of-0-1-0.json. Never edited.
BEGIN TRANSACTION;
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
INSERT INTO "device" VALUES(1,'phone-1',X'8D4D4327A4BBF5D42D50B6535F6F0315405B6D21D1E80D6CC90E1DDFFF137D74',1795222163238,'pt-BR','{"gateway":"fcm","token":"example"}','android','15','Pixel 9','2.1.0','App/2.1.0',1795222163226,1795222163238);
INSERT INTO "device" VALUES(2,'phone-2',NULL,NULL,NULL,NULL,'ios','15','Pixel 9','2.1.0','App/2.1.0',1795222163230,1795222163230);
INSERT INTO "device" VALUES(3,'phone-3',NULL,NULL,NULL,NULL,'android','15','Pixel 9','2.1.0','App/2.1.0',1795222163234,1795222163234);
INSERT INTO "device" VALUES(4,'phone-4',X'0A6B60099E0B37A6D460790A016E5A30ACC00DB85FBD60AB088A689517D87CC3',1795222163240,NULL,NULL,'android','15','Pixel 9','2.1.0','App/2.1.0',1795222163235,1795222163240);
CREATE TABLE `device_domain` (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "device_domain" VALUES(4,3,1795222163235);
CREATE TABLE `device_proof` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`is_by_link` integer NOT NULL,
	`from_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "device_proof" VALUES(1,1,1,1795222163226);
INSERT INTO "device_proof" VALUES(4,2,0,1795222163240);
CREATE TABLE `device_provider` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "device_provider" VALUES(4,2,1795222163235);
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
INSERT INTO "distribution" VALUES(1,1,10,100,'ios,android','',1795222163241,1795222163241,0,1826758163241,1795222163251,1795222163256,NULL,1795222168256,0,0,0,2,2,0,NULL,NULL,'{"title":"News","body":"<b>Hello</b>","locales":{"ru":{"title":"Новости","body":"Привет"}},"type_push":"optional","expire_days":365}');
INSERT INTO "distribution" VALUES(2,1,20,100,NULL,'phone-1',1795222163245,1795222163245,0,1797814163245,1795222163260,1795222163265,NULL,1795222168265,0,0,0,1,1,0,NULL,NULL,'{"action_type":"update-subscription"}');
INSERT INTO "distribution" VALUES(3,1,20,100,NULL,'phone-4',1795222163250,1795222163250,0,1797814163250,1795222163284,1795222163290,NULL,1795222168290,0,0,1,1,1,0,NULL,NULL,'{"action_type":"import-data","input-data":"aHR0cHM6Ly9leGFtcGxlLmNvbS9zdWIvMQ=="}');
INSERT INTO "distribution" VALUES(4,1,10,30,NULL,'phone-1,phone-2',1795222163251,1821162600000,1,1821594600000,NULL,NULL,NULL,1795222168256,0,0,0,0,0,0,NULL,NULL,'{"body":"later","type_push":"force","expire_days":5}');
INSERT INTO "distribution" VALUES(5,1,10,130,NULL,'phone-1',1795222163253,1821162660000,1,1821594660000,NULL,1795222163255,'10490-cde13c1a-68ad-45ed-9a2c-b02e1a28e13d',1795222168254,0,0,0,0,0,0,NULL,NULL,'{"body":"never","type_push":"force","expire_days":5}');
INSERT INTO "distribution" VALUES(6,1,10,140,NULL,'phone-1',1795222164761,1821162720000,1,1821594720000,NULL,1795222164860,NULL,1795222169770,0,0,0,0,0,0,NULL,NULL,'{"body":"blocked","type_push":"force","expire_days":5}');
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
INSERT INTO "domain" VALUES(1,1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','example.com',10,1795222163196);
INSERT INTO "domain" VALUES(2,1,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','bbbbbbbbbb',5,1795222163210);
INSERT INTO "domain" VALUES(3,2,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','пример',10,1795222163216);
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
INSERT INTO "install" VALUES(1,1,'ExampleLink1',3,2,10,'a "note"; it''s; 100% ж',1795222163217);
INSERT INTO "install" VALUES(2,1,'ExampleLink2',1,0,10,NULL,1795222163218);
INSERT INTO "install" VALUES(3,1,'ExampleLink3',100,0,5,'off',1795222163221);
INSERT INTO "install" VALUES(4,2,'ExampleLink4',2,1,10,NULL,1795222163225);
CREATE TABLE `install_device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`registered_at_ms` integer NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade
);
INSERT INTO "install_device" VALUES(1,1,1,1795222163226);
INSERT INTO "install_device" VALUES(2,1,2,1795222163230);
INSERT INTO "install_device" VALUES(3,4,3,1795222163234);
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
INSERT INTO "provider" VALUES(1,'Example1','Example bot','enterprise',X'46867A83A011D9614ECA120AD092DCF755731D1CAEA1D2BD4E2E48DE7EF3CDEC',X'7EFBB5C0892BEB98FA2013405EE6408E640D3E40DD8230322E63ABCF914F7BCF',1826758162816,NULL,NULL,50,1795222163241,3,1795222162702);
INSERT INTO "provider" VALUES(2,'Example2','Второй бот','basic',X'C957FEDACFB90260FFE80BBE43A2A73648F0588C95B1EA694EAD4C4F810AE705',NULL,NULL,1806526800000,NULL,NULL,NULL,1,1795222162879);
INSERT INTO "provider" VALUES(3,'Example3','Suspended','pro',X'8B626EFDAF2CB90EA46CAD80F6CE62FD42566F41BA6E2481CF1D357E9FF68A8C',NULL,NULL,NULL,1795222163013,NULL,NULL,0,1795222162940);
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
INSERT INTO "recipient" VALUES(1,1,1,2,0,1,1795222163252,1795222163256,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(2,1,2,2,0,1,1795222163252,1795222163256,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "recipient" VALUES(3,2,1,2,0,0,1795222163262,1795222163265,NULL,NULL,1795222164760,NULL,NULL,1795222164760,'no network');
INSERT INTO "recipient" VALUES(4,3,4,2,1,1,1795222163284,1795222163290,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE UNIQUE INDEX `device_hwid_unique` ON `device` (`hwid`);
CREATE UNIQUE INDEX `device_by_token` ON `device` (`token_hash`) WHERE token_hash IS NOT NULL;
CREATE INDEX `device_domain_by_domain` ON `device_domain` (`domain_id`,`device_id`);
CREATE INDEX `device_proof_by_provider` ON `device_proof` (`provider_id`);
CREATE INDEX `device_provider_by_provider` ON `device_provider` (`provider_id`);
CREATE INDEX `distribution_by_provider` ON `distribution` (`provider_id`);
CREATE INDEX `distribution_unfinished` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100;
CREATE INDEX `distribution_in_delivery` ON `distribution` (`provider_id`) WHERE status IN (5, 6, 40);
CREATE INDEX `distribution_unchecked` ON `distribution` (`due_at_ms`) WHERE status IN (10, 20);
CREATE INDEX `distribution_to_expire` ON `distribution` (`expires_at_ms`) WHERE expired_at_ms IS NULL;
CREATE INDEX `distribution_to_prune` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NULL;
CREATE INDEX `distribution_unbound` ON `distribution` (`provider_id`,`created_at_ms`) WHERE unbound_count > 0;
CREATE UNIQUE INDEX `domain_once_per_provider` ON `domain` (`provider_id`,`domain_hash`);
CREATE UNIQUE INDEX `install_install_code_unique` ON `install` (`install_code`);
CREATE INDEX `install_by_provider` ON `install` (`provider_id`);
CREATE INDEX `install_device_by_device` ON `install_device` (`device_id`);
CREATE UNIQUE INDEX `install_device_once` ON `install_device` (`install_id`,`device_id`);
CREATE UNIQUE INDEX `provider_code_unique` ON `provider` (`code`);
CREATE INDEX `recipient_inbox` ON `recipient` (`device_id`,`id`) WHERE is_waiting = 1;
CREATE UNIQUE INDEX `recipient_once` ON `recipient` (`distribution_id`,`device_id`);
CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
END;
CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1 WHERE id = OLD.install_id;
END;
CREATE TRIGGER install_device_stays BEFORE UPDATE OF install_id, device_id ON install_device BEGIN
  SELECT RAISE(ABORT, 'a slot never moves to another link or device');
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('provider',3);
INSERT INTO "sqlite_sequence" VALUES('domain',3);
INSERT INTO "sqlite_sequence" VALUES('install',4);
INSERT INTO "sqlite_sequence" VALUES('device',4);
INSERT INTO "sqlite_sequence" VALUES('install_device',3);
INSERT INTO "sqlite_sequence" VALUES('distribution',6);
INSERT INTO "sqlite_sequence" VALUES('recipient',4);
COMMIT;
PRAGMA application_id = 1197569125;
PRAGMA user_version = 3;
