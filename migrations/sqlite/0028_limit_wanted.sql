ALTER TABLE `install` ADD `limit_wanted` integer;
-- A pass no longer looks again at links with more devices than the limit of the panel: their limit
-- waits. Users of such links are left out, so that the next pass brings their limits anew.
CREATE TABLE `__new_followed_user` (
	`follow_id` integer NOT NULL,
	`user_hash` blob NOT NULL,
	`key_hash` blob NOT NULL,
	`state` text NOT NULL,
	`panel_limit` integer,
	`ends_at_ms` integer,
	`note` text,
	`missed_count` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`follow_id`, `user_hash`),
	FOREIGN KEY (`follow_id`) REFERENCES `follow`(`id`) ON UPDATE no action ON DELETE cascade
);

INSERT INTO `__new_followed_user` (follow_id, user_hash, key_hash, state, panel_limit, ends_at_ms,
  note, missed_count)
SELECT follow_id, user_hash, key_hash, state, panel_limit, ends_at_ms, note, missed_count
FROM `followed_user` WHERE is_over = 0;
DROP TABLE `followed_user`;
ALTER TABLE `__new_followed_user` RENAME TO `followed_user`;
CREATE INDEX `followed_user_by_key` ON `followed_user` (`key_hash`,`follow_id`);
