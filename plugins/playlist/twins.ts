/**
 * The second id key of playlist entries (contract 1.2). It is stored with them: a page of playlists has hundreds of
 * entries, and adding the key to each of them took most of the reply's time.
 */
import { withTwins } from 'archivolt'
import type { App } from './app.ts'
import type { EditPlaylist } from './edits.ts'
import type { PlaylistCollection, PlaylistDoc, PlaylistEntry } from './schema.ts'
import { addTwins } from './tasks.ts'

export const twinTables = {
  number: 3,
  sql: `
-- One row. id_key: the key that all stored entries have beside platform_id, or ''; '?': some may have another.
CREATE TABLE playlist_twin (
  id_key TEXT NOT NULL
) STRICT;
INSERT INTO playlist_twin (id_key) SELECT '?' WHERE EXISTS (SELECT 1 FROM users);
`,
}

/** Maximum number of documents in memory. */
const SCANNED_TOGETHER = 20
const UNKNOWN = '?'
const ENTRIES = '"playlist_entries":[{"platform_id":"'

export function openTwins({ ledger, jobs, platform }: Pick<App, 'ledger' | 'jobs' | 'platform'>) {
  const [twin = ''] = Object.keys(platform.mirror('x'))

  const stored = ({ platform_id, title, uploader, idx, downloaded }: PlaylistEntry): PlaylistEntry => ({
    platform_id,
    ...platform.mirror(platform_id),
    ...{ title, uploader, idx, downloaded },
  })

  const withEntries = <Doc extends { playlist_entries?: PlaylistEntry[] | null }>(doc: Doc): Doc =>
    doc.playlist_entries ? { ...doc, playlist_entries: doc.playlist_entries.map(stored) } : doc

  /** The same collection, with documents that get the key when they are written. */
  const wrap = (collection: PlaylistCollection): PlaylistCollection => ({
    ...collection,
    create: (id, doc, options) => collection.create(id, withEntries(doc), options),
    patch: (id, change, options) =>
      collection.patch(id, change.set ? { ...change, set: withEntries(change.set) } : change, options),
  })

  /** The key after `platform_id` in the first entry of a stored text; undefined: the playlist has no entries. */
  function keyIn(text: string): string | undefined {
    const at = text.indexOf(ENTRIES)
    if (at < 0) return undefined
    const from = text.indexOf('"', at + ENTRIES.length) + '","'.length
    return text.slice(from, text.indexOf('"', from))
  }

  const plain = 'title' satisfies keyof PlaylistEntry
  const isStored = (key: string | undefined) => key === undefined || key === (twin || plain)

  /** A stored text in the form of a reply. */
  function shown(text: string): string {
    const key = keyIn(text)
    if (isStored(key)) return text
    if (key === plain) return withTwins(text, 'platform_id', twin)
    return JSON.stringify(withEntries(JSON.parse(text) as PlaylistDoc))
  }

  const note = (key: string) =>
    ledger.write(() => {
      ledger.sql('DELETE FROM playlist_twin').run()
      ledger.sql('INSERT INTO playlist_twin(id_key) VALUES (?)').run(key)
    })

  async function begin(): Promise<void> {
    const known = ledger.sql<{ id_key: string }>('SELECT id_key FROM playlist_twin').get()?.id_key
    if (known === undefined)
      await note(twin) // a new data folder
    else if (known !== twin) await jobs.start(addTwins)
  }

  return {
    wrap,
    shown,
    /** Called at the start, to notice an update or a changed setting. */
    begin,

    /** Called after a restore, because its documents may have another key. */
    async renew(): Promise<void> {
      await note(UNKNOWN)
      await begin()
    },

    /** Rewrites all documents that have another key. May be repeated. */
    async addAll(collection: PlaylistCollection, edit: EditPlaylist, signal: AbortSignal): Promise<void> {
      for await (const batch of collection.scan({ batch: SCANNED_TOGETHER }))
        for (const { id, doc } of batch) {
          signal.throwIfAborted()
          const [, key] = Object.keys(doc.playlist_entries[0] ?? {})
          if (!isStored(key)) await edit(id, ({ playlist_entries }) => ({ playlist_entries }), { isTold: false })
        }
      await note(twin)
    },
  }
}
export type Twins = ReturnType<typeof openTwins>
