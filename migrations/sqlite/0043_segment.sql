ALTER TABLE `distribution` ADD `segment` text;
ALTER TABLE `distribution` ADD `cursor_os` text;
ALTER TABLE `distribution` ADD `ride_ended_at_ms` integer;
