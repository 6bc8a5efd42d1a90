/**
 * Documents of custom playlists. The rows are the truth: a shared playlist has a document that says the same, a private
 * or removed one has none, and nobody else writes or drops it. What was cut off between the two is noted in the ledger,
 * and mended by a job.
 */
import { beyondView, type Collection, type DocOf, errors, type NamesOf, openLocks, type Step, say } from 'archivolt'
import type { App } from './app.ts'
import { contentOf, customDoc, entriesOf } from './custom-doc.ts'
import { type CustomPlaylist, type CustomRows, UNKNOWN, type Unsettled } from './custom-rows.ts'
import type { Membership } from './membership.ts'
import type { PlaylistDoc, playlistIndex } from './schema.ts'
import { settlePlaylists } from './tasks.ts'

interface Parts {
  rows: CustomRows
  collection: Collection<DocOf<typeof playlistIndex>, NamesOf<typeof playlistIndex>>
  membership: Membership
  drop(id: string): Promise<void>
}

/** Lists that are compared, or looked up, together. */
const CHUNK = 500
/** Documents that are held at once. */
const SCANNED_TOGETHER = 20
/** Entries whose art is looked for: beyond them the playlist goes without a picture. */
const ART_AMONG = 50

export class Projection {
  readonly #app: App
  readonly #rows: CustomRows
  readonly #collection: Parts['collection']
  readonly #membership: Membership
  readonly #drop: (id: string) => Promise<void>
  readonly #locks = openLocks()

  constructor(app: App, { rows, collection, membership, drop }: Parts) {
    this.#app = app
    this.#rows = rows
    this.#collection = collection
    this.#membership = membership
    this.#drop = drop
  }

  /** Changes rows, and the document after them. Where that fails, a job does it later. */
  async change<Result>(
    { id, isShared }: Pick<CustomPlaylist, 'id' | 'isShared'>,
    write: () => Promise<Result>,
  ): Promise<Result> {
    if (isShared) await this.#app.index.writable()
    const result = await write()
    await this.project(id)
    return result
  }

  /** When it resolves, rows and document agree. Changes that wait for each other are written together. */
  async project(id: string): Promise<void> {
    if (!this.#rows.unsettled(id)) return
    try {
      // The document is written for everybody: also what the one who asks is not shown.
      await beyondView(() => this.#locks.exclusive(id, () => this.#settle(id)))
    } catch (thrown) {
      await this.#app.jobs.start(settlePlaylists)
      throw thrown
    }
  }

  /**
   * One that everybody sees, as its rows have it: what only its document tells so far is taken first.
   * @throws not_found; bad_request: it is the platform's
   */
  async taken(id: string): Promise<CustomPlaylist> {
    const list = this.#rows.get(id)
    if (list && this.#rows.unsettled(id)?.truth !== 'index') return list
    const doc = await this.#collection.get(id)
    if (!doc) throw errors.notFound('playlist', id)
    if (doc.playlist_type !== 'custom')
      throw errors.badRequest(
        say`Only custom playlists can be edited; this one is read from ${{ platform: this.#app.platform.name }}`,
      )
    await this.#rows.unsettleUnknown([id])
    await this.project(id)
    const found = this.#rows.get(id)
    if (!found) throw errors.notFound('playlist', id)
    return found
  }

  /** Documents or rows come from another time. Nobody sees from now on what is private. */
  async compare(older: 'ledger' | 'index'): Promise<void> {
    for (let lists = this.#rows.after('', CHUNK); lists.length > 0; lists = this.#rows.after(lists.at(-1)!.id, CHUNK))
      await this.#rows.compare(lists, await this.#collection.known(lists.map(({ id }) => id)), older)
    await this.#rows.unsettle(UNKNOWN, 'index')
    await this.#app.jobs.start(settlePlaylists)
  }

  /** At the start: what was cut off, or is taken over. */
  async begin(): Promise<void> {
    if (this.#rows.unsettledAfter(0, 1).length > 0) await this.#app.jobs.start(settlePlaylists)
  }

  /** One that fails does not stop the others. @throws what the first one threw */
  async settleAll(step: Step): Promise<void> {
    // Documents that are missing may come back; their rows stay as they are until then.
    if (this.#app.index.lost !== undefined) return
    const failed: unknown[] = []
    let marks = this.#rows.unsettledAfter(0, CHUNK)
    for (; marks.length > 0; marks = this.#rows.unsettledAfter(marks.at(-1)!.number, CHUNK))
      for (const mark of marks) {
        const settle = () =>
          mark.id === UNKNOWN ? this.#findUnknown(mark) : this.#locks.exclusive(mark.id, () => this.#settle(mark.id))
        await step('playlist.settle', settle).catch((thrown: unknown) => failed.push(thrown))
      }
    if (failed.length > 0) throw failed[0]
  }

  /** Videos are in the archive again: those that shared playlists have kept in their rows. */
  async takeIn(videoId?: string): Promise<void> {
    for (const id of await this.#rows.unsettleShared(videoId)) await this.project(id)
  }

  /** Documents that have no rows get some. */
  async #findUnknown(mark: Unsettled): Promise<void> {
    const custom = { filter: { eq: ['playlist_type', 'custom'] as ['playlist_type', 'custom'] } }
    for await (const batch of this.#collection.scan({ ...custom, batch: SCANNED_TOGETHER }))
      await this.#rows.unsettleUnknown(batch.map(({ id }) => id))
    await this.#rows.noteSettled(mark)
  }

  async #settle(id: string): Promise<void> {
    for (let mark = this.#rows.unsettled(id); mark; mark = this.#rows.unsettled(id)) {
      const doc = await this.#collection.get(id)
      // Documents from elsewhere may give the id of a custom playlist to one of the platform.
      if (doc?.playlist_type === 'regular') await this.#rows.noteSettled(mark)
      else if (mark.truth === 'index') await this.#take(mark, doc)
      else await this.#write(mark, doc)
    }
  }

  async #take(mark: Unsettled, doc: PlaylistDoc | undefined): Promise<void> {
    if (doc)
      return this.#rows.replace(mark, { name: doc.playlist_name, changedAt: doc.refreshed_at, entries: entriesOf(doc) })
    // Its rows have it as it was when it was private last, or its document was all there was.
    if (typeof this.#rows.get(mark.id)?.name === 'string') await this.#rows.unsettle(mark.id, 'ledger')
    else await this.#rows.remove(mark.id)
  }

  async #write(mark: Unsettled, doc: PlaylistDoc | undefined): Promise<void> {
    const list = this.#rows.get(mark.id)
    if (list?.isShared) await this.#put(list, doc)
    else await this.#drop(mark.id)
    await this.#rows.noteSettled(mark)
  }

  /** Videos that leave it first, then those that come, then the document: a repetition finds what is left to do. */
  async #put(list: CustomPlaylist, old: PlaylistDoc | undefined): Promise<void> {
    const { id } = list
    const before = old ? entriesOf(old).map(({ videoId }) => videoId) : []
    const had = new Set(before)
    const rows = this.#rows.entries(id)
    const come = await this.#membership.archived(rows.map(({ videoId }) => videoId).filter((one) => !had.has(one)))
    const entries = rows.filter(({ videoId }) => had.has(videoId) || come.has(videoId))
    const after = entries.map(({ videoId }) => videoId)
    const stay = new Set(after)
    if (old)
      await this.#membership.take(
        id,
        before.filter((videoId) => !stay.has(videoId)),
      )
    else await this.#membership.takeAll(id)
    await this.#membership.add(id, [...come])
    const content = { name: list.name, changedAt: list.changedAt, entries }
    const isThere = old && (await this.#collection.patch(id, { set: contentOf(content) }, { visible: true }))
    const thumbnail = this.#app.media.artUrl('playlist', id)
    if (!isThere) await this.#collection.create(id, customDoc({ id, thumbnail, ...content }), { visible: true })
    await this.#takeThumbnail(id, before, after)
  }

  /** The first picture of its videos is its own. One that cannot be had is no error. */
  async #takeThumbnail(id: string, before: readonly string[], after: readonly string[]): Promise<void> {
    try {
      const first = await this.#firstWithArt(after)
      if (first === undefined) return await this.#app.media.removeArt('playlist', id)
      if (first === (await this.#firstWithArt(before)) && (await this.#app.media.hasArt('playlist', id))) return
      await this.#app.media.keepArt('playlist', id, this.#app.media.artPathOf('video', first))
    } catch (err) {
      this.#app.log.warn({ err, playlist: id }, 'the thumbnail of a custom playlist could not be made')
    }
  }

  async #firstWithArt(ids: readonly string[]): Promise<string | undefined> {
    for (const id of ids.slice(0, ART_AMONG)) if (await this.#app.media.hasArt('video', id)) return id
    return undefined
  }
}
