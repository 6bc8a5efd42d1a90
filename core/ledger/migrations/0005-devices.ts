/** PINs, and the devices where they are enough: those where their account has signed in with its password. */
export const devices = `
-- A hash, as that of the password; null: none.
ALTER TABLE users ADD COLUMN pin TEXT;

CREATE TABLE device_accounts (
  -- Hash of the id that the device has in its cookie.
  device TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  used_at INTEGER NOT NULL,
  -- Since the PIN, or the password, was right.
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (device, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX device_accounts_by_user ON device_accounts (user_id, used_at);
CREATE INDEX device_accounts_by_age ON device_accounts (used_at);
`
