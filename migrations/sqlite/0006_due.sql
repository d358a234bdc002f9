-- One column says when a distribution is due: it is scheduled if that is not when it was created.
-- Whether it may reach HWIDs that are not linked is a fact of it, no longer read from its payload.

DROP INDEX `distribution_unscheduled`;
ALTER TABLE `distribution` RENAME COLUMN `is_scheduled` TO `reaches_unbound`;
-- Of all that may be still to deliver. The payload of what was pruned is JSON's null.
UPDATE distribution
SET reaches_unbound = notification_type = 20 AND payload ->> '$.action_type' IS 'import-data';
CREATE INDEX `distribution_unscheduled` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100 AND due_at_ms = created_at_ms;
