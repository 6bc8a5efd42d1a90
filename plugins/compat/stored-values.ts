/**
 * Stores values of v0.5 that have no meaning here, for each account, so that clients can read back the values that they
 * wrote.
 */
import type { App } from 'archivolt'

type Values = Readonly<Record<string, unknown>>

export const valueTables = {
  number: 1,
  sql: `CREATE TABLE compat_account (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    kept TEXT NOT NULL
  ) STRICT;
  CREATE TABLE compat_installation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    kept TEXT NOT NULL
  ) STRICT`,
}

/**
 * The playlist size is now a preference of the plugin subscription, whose migration may have set it already: a value
 * that a person has set overrides the one from that migration.
 */
export const ownPlaylistSize = {
  number: 2,
  sql: `INSERT OR REPLACE INTO preferences (section, key, value)
    SELECT 'subscriptions', 'playlist_size', json_extract(kept, '$."subscriptions.playlist_size"') FROM compat_installation
    WHERE json_type(kept, '$."subscriptions.playlist_size"') = 'integer';
  UPDATE compat_installation SET kept = json_remove(kept, '$."subscriptions.playlist_size"', '$."subscriptions.extract_flat"')`,
}

/**
 * The URL of the token provider is now a preference of the plugin platform. With it, the last stored value of the
 * installation is removed.
 */
export const ownTokenProvider = {
  number: 3,
  sql: `INSERT OR IGNORE INTO preferences (section, key, value)
    SELECT 'platform', 'token_provider', json_quote(json_extract(kept, '$."downloads.pot_provider_url"')) FROM compat_installation
    WHERE json_type(kept, '$."downloads.pot_provider_url"') = 'text';
  DROP TABLE compat_installation`,
}

export function valuesOfAccount({ ledger }: Pick<App, 'ledger'>, id: number): Values {
  const row = ledger.sql<{ kept: string }>('SELECT kept FROM compat_account WHERE user_id = ?').get(id)
  return row ? ledger.json<Values>(row.kept, `compat_account.kept of ${id}`, {}) : {}
}

/** @param change  returns the new values for those stored at the time of the write */
export const changeForAccount = (
  app: Pick<App, 'ledger'>,
  id: number,
  change: (before: Values) => Values,
): Promise<unknown> =>
  app.ledger.write(() =>
    app.ledger
      .sql(
        'INSERT INTO compat_account (user_id, kept) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET kept = excluded.kept',
      )
      .run(id, JSON.stringify(change(valuesOfAccount(app, id)))),
  )
