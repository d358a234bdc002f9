-- The lower limit that a link gets as its devices leave: SQLite's migration 0028.

ALTER TABLE install ADD COLUMN limit_wanted integer;
DELETE FROM followed_user WHERE is_over = 1;
ALTER TABLE followed_user DROP COLUMN is_over;
