/**
 * Shares a private playlist, or makes a shared one private: from the ledger into the index, and back (contract 9.6).
 * While it moves, the ledger has all of it, and nobody is shown the document; so a cut anywhere is mended by doing it
 * once more.
 */
import { type Collection, type DocOf, errors, type NamesOf, type Step, say } from 'archivolt'
import type { CustomPlaylists } from './custom.ts'
import type { Membership } from './membership.ts'
import { MOST_ENTRIES, type OwnEntry, type OwnPlaylist, type OwnRows } from './own-rows.ts'
import type { PlaylistDoc, playlistIndex } from './schema.ts'

interface Parts {
  rows: OwnRows
  collection: Collection<DocOf<typeof playlistIndex>, NamesOf<typeof playlistIndex>>
  membership: Membership
  custom: Pick<CustomPlaylists, 'put' | 'takeThumbnail'>
  drop(id: string): Promise<void>
}

/** Archived videos of a document, each once. */
function entriesOf({ playlist_entries: entries }: PlaylistDoc): OwnEntry[] {
  const byId = new Map(
    entries
      .filter(({ downloaded }) => downloaded)
      .map(({ platform_id: videoId, title, uploader }) => [videoId, { videoId, title, uploader }]),
  )
  return [...byId.values()]
}

export class Moves {
  readonly #rows: OwnRows
  readonly #collection: Parts['collection']
  readonly #membership: Membership
  readonly #custom: Pick<CustomPlaylists, 'put' | 'takeThumbnail'>
  readonly #drop: (id: string) => Promise<void>

  constructor({ rows, collection, membership, custom, drop }: Parts) {
    this.#rows = rows
    this.#collection = collection
    this.#membership = membership
    this.#custom = custom
    this.#drop = drop
  }

  async share(id: string, step: Step): Promise<void> {
    const list = this.#rows.get(id)
    if (!list) {
      // Its account was removed meanwhile. A document, where it came so far, is whole.
      if (!(await this.#collection.known([id])).has(id)) await this.#membership.takeAll(id)
      return
    }
    if (list.stage !== 'shared' || (await this.#hasLostDocument(list))) {
      const archived = await this.#membership.archived(this.#rows.videoIds(list))
      const entries = this.#rows.entries(list).filter(({ videoId }) => archived.has(videoId))
      const ids = entries.map(({ videoId }) => videoId)
      await step('playlist.share.begin', () => this.#rows.setStage(list, 'moving', list.name))
      await step('playlist.share.videos', async () => {
        await this.#membership.takeAll(id)
        await this.#membership.add(id, ids)
      })
      await step('playlist.share.document', () => this.#custom.put(id, list.name ?? '', entries))
      // Its rows keep their entries: a restore may bring documents from before it was shared.
      await step('playlist.share.end', () => this.#rows.setStage(list, 'shared', list.name))
      await this.#custom.takeThumbnail(id, [], ids)
    }
  }

  /** A restore has brought documents from before it was shared: the rows have it as it was then. */
  async #hasLostDocument({ id, name }: OwnPlaylist): Promise<boolean> {
    return name !== null && !(await this.#collection.known([id])).has(id)
  }

  /** @throws not_found; conflict: it has more videos than a private one can hold */
  async unshare(id: string, step: Step): Promise<void> {
    const list = this.#rows.get(id)
    if (list?.stage === 'shared') {
      const doc = await this.#collection.get(id)
      if (!doc) throw errors.notFound('playlist', id)
      const entries = entriesOf(doc)
      if (entries.length > MOST_ENTRIES)
        throw errors.conflict(
          say`A private playlist can hold ${{ most: MOST_ENTRIES }} videos; this one has ${{ count: entries.length }}`,
        )
      await step('playlist.hide.copy', () => this.#rows.replaceEntries(list, entries))
      await step('playlist.hide.begin', () => this.#rows.setStage(list, 'moving', doc.playlist_name))
    }
    await step('playlist.hide.drop', () => this.#drop(id))
    const moved = this.#rows.get(id)
    if (moved) await step('playlist.hide.end', () => this.#rows.setStage(moved, 'private', moved.name))
  }
}
