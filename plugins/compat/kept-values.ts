/** Values that v0.5 has and we have no use for: kept for each account, so that they come back. */
import type { App } from 'archivolt'

type Values = Readonly<Record<string, unknown>>

export const keptTables = {
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
 * It has a preference of its own now, in the plugin subscription, whose migration may have filled it in already: what
 * somebody has set counts.
 */
export const ownPlaylistSize = {
  number: 2,
  sql: `INSERT OR REPLACE INTO preferences (section, key, value)
    SELECT 'subscriptions', 'playlist_size', json_extract(kept, '$."subscriptions.playlist_size"') FROM compat_installation
    WHERE json_type(kept, '$."subscriptions.playlist_size"') = 'integer';
  UPDATE compat_installation SET kept = json_remove(kept, '$."subscriptions.playlist_size"', '$."subscriptions.extract_flat"')`,
}

/** So has this, in the plugin platform: nothing is left that is kept of the installation. */
export const ownTokenProvider = {
  number: 3,
  sql: `INSERT OR IGNORE INTO preferences (section, key, value)
    SELECT 'platform', 'token_provider', json_quote(json_extract(kept, '$."downloads.pot_provider_url"')) FROM compat_installation
    WHERE json_type(kept, '$."downloads.pot_provider_url"') = 'text';
  DROP TABLE compat_installation`,
}

export function keptOfAccount({ ledger }: Pick<App, 'ledger'>, id: number): Values {
  const row = ledger.sql<{ kept: string }>('SELECT kept FROM compat_account WHERE user_id = ?').get(id)
  return row ? ledger.json<Values>(row.kept, `compat_account.kept of ${id}`, {}) : {}
}

/** In place of what was kept. */
export const keepForAccount = (app: Pick<App, 'ledger'>, id: number, values: Values): Promise<unknown> =>
  app.ledger.write(() =>
    app.ledger
      .sql(
        'INSERT INTO compat_account (user_id, kept) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET kept = excluded.kept',
      )
      .run(id, JSON.stringify(values)),
  )
