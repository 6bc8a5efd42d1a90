/** Preferences of single channels, as rows: a channel without its own value uses that of the general preferences. */
import { checkValue, errors, firstFaultIn, type PreferenceValues } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { App } from './app.ts'

export const valueTable = {
  number: 1,
  sql: `
CREATE TABLE perchannel_value (
  channel_id TEXT NOT NULL,
  section TEXT NOT NULL,
  key TEXT NOT NULL,
  -- JSON
  value TEXT NOT NULL,
  PRIMARY KEY (channel_id, section, key)
) STRICT, WITHOUT ROWID`,
}

/** Values by section and key. */
export type Own = Record<string, Record<string, unknown>>

export interface ChannelPreferences {
  /** The values of a section for this channel: its own, otherwise the general ones. */
  section<Name extends keyof PreferenceValues & string>(channelId: string, name: Name): Readonly<PreferenceValues[Name]>
  /** Only the channel's own values. */
  own(channelId: string): Own
  /** Changes all values or none; null: the general value applies again. @throws bad_request with `fields` */
  change(channelId: string, changes: Own): Promise<void>
  forget(channelId: string): Promise<void>
}

interface Row {
  section: string
  key: string
  value: string
}

export function openValues({ ledger, preferences }: App): ChannelPreferences {
  const { sections } = preferences
  /** undefined: there is no such preference, or it cannot be set for a channel. Secrets cannot either. */
  function schemaOf(section: string, key: string) {
    const schema = Object.hasOwn(sections, section) ? sections[section]![key] : undefined
    return schema && Reflect.get(schema, 'x-per-channel') === true && !Reflect.has(schema, 'x-secret')
      ? schema
      : undefined
  }

  function own(channelId: string): Own {
    const found: Own = {}
    const rows = ledger
      .sql<Row>('SELECT section, key, value FROM perchannel_value WHERE channel_id = ? ORDER BY section, key')
      .all(channelId)
    for (const { section, key, value } of rows) {
      const schema = schemaOf(section, key)
      const told = ledger.json<unknown>(value, `perchannel_value of ${channelId}`, undefined)
      // An update may have changed the schema of a preference.
      if (schema && firstFaultIn(schema, told) === undefined) (found[section] ??= {})[key] = told
    }
    return found
  }

  function checked(section: string, key: string, value: unknown): Row {
    const path = `${section}.${key}`
    const schema = schemaOf(section, key)
    if (!schema) throw errors.wrongField(path, 'cannot be set for a channel')
    if (value !== null) checkValue(schema, value, path)
    return { section, key, value: JSON.stringify(value) }
  }

  return {
    own,
    section: (channelId, name) => Object.freeze({ ...preferences.section(name), ...own(channelId)[name] }),

    async change(channelId, changes) {
      const rows = Object.entries(changes).flatMap(([section, keys]) =>
        Object.entries(keys).map(([key, value]) => checked(section, key, value)),
      )
      await ledger.write(() => {
        for (const { section, key, value } of rows)
          if (value === 'null')
            ledger
              .sql('DELETE FROM perchannel_value WHERE channel_id = ? AND section = ? AND key = ?')
              .run(channelId, section, key)
          else
            ledger
              .sql('INSERT OR REPLACE INTO perchannel_value VALUES (?, ?, ?, ?)')
              .run(channelId, section, key, value)
      })
    },

    forget: async (channelId) => {
      await ledger.write(() => ledger.sql('DELETE FROM perchannel_value WHERE channel_id = ?').run(channelId))
    },
  }
}

/** The values of a channel, as the bin stores them. */
export const channelBelongings = ({ perChannel }: App): OwnChannelBelongings => ({
  of: 'perchannel',
  rows: [{ table: 'perchannel_value', id: (row) => `${row}.channel_id` }],
  async collect(channelId) {
    const own = perChannel.own(channelId)
    return Object.keys(own).length === 0 ? undefined : own
  },
  async restore(channelId, stored) {
    if (typeof stored !== 'object' || stored === null) return
    const there = perChannel.own(channelId)
    for (const [section, keys] of Object.entries(stored as Own))
      for (const [key, value] of Object.entries(keys ?? {}))
        if (there[section]?.[key] === undefined)
          // Skips values that are no longer allowed.
          await perChannel.change(channelId, { [section]: { [key]: value } }).catch(() => undefined)
  },
})
