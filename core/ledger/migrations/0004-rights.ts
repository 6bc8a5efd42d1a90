/** What accounts that are no admins may do, and what they are shown. What was there before may do what it could. */
export const rights = `
ALTER TABLE users ADD COLUMN may_download INTEGER NOT NULL DEFAULT 0;
-- The chosen ids by kind, as JSON; null: the whole archive.
ALTER TABLE users ADD COLUMN view TEXT;
`
