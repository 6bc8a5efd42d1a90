/** A second factor at the login: codes of an authenticator app (TOTP), and recovery codes where that is lost. */
export const totp = `
CREATE TABLE totp (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Codes are computed from it, so it is no hash: it is sealed (core/ledger/seal.ts).
  secret TEXT NOT NULL,
  -- null: no code of it has been shown yet, so no login asks for one.
  enabled_at INTEGER,
  -- The time step of the last code that was taken: no code is taken twice, and none from before it.
  last_step INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE recovery_codes (
  user_id INTEGER NOT NULL REFERENCES totp (user_id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;
`
