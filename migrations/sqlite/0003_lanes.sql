DROP INDEX `distribution_unfinished`;
CREATE INDEX `distribution_in_delivery` ON `distribution` (`provider_id`) WHERE status IN (5, 6, 40);
CREATE INDEX `distribution_unchecked` ON `distribution` (`due_at_ms`) WHERE status IN (10, 20);
CREATE INDEX `distribution_unfinished` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100;