/**
 * Documents of custom playlists. The rows are the source of truth: a shared playlist has a document with the same
 * content, a private or removed one has none, and only this code writes or deletes it. An interruption between rows and
 * document is recorded in the ledger, and repaired by a job.
 */
import { beyondView, errors, openLocks, type Step, say } from 'archivolt'
import type { App } from './app.ts'
import { contentOf, customDoc, entriesOf } from './custom-doc.ts'
import { type CustomPlaylist, type CustomRows, UNKNOWN, type Unsettled } from './custom-rows.ts'
import { updateThumbnail } from './custom-thumbnail.ts'
import type { Membership } from './membership.ts'
import type { PlaylistCollection, PlaylistDoc } from './schema.ts'
import { settlePlaylists } from './tasks.ts'

interface Parts {
  rows: CustomRows
  collection: PlaylistCollection
  membership: Membership
  drop(id: string): Promise<void>
}

/** Number of playlists that are compared or looked up together. */
const CHUNK = 500
/** Maximum number of documents in memory. */
const SCANNED_TOGETHER = 20

export type Projection = ReturnType<typeof openProjection>

export function openProjection(app: App, { rows, collection, membership, drop }: Parts) {
  const locks = openLocks()

  /** Changes rows, then the document. If the latter fails, a job repeats it. */
  async function change<Result>(
    { id, isShared }: Pick<CustomPlaylist, 'id' | 'isShared'>,
    write: () => Promise<Result>,
  ): Promise<Result> {
    if (isShared) await app.index.writable()
    const result = await write()
    await project(id)
    return result
  }

  /**
   * Updates the document from the rows; they agree when it resolves. Changes that wait at the same time are written
   * together.
   */
  async function project(id: string): Promise<void> {
    if (!rows.unsettled(id)) return
    try {
      // The document is written for all accounts, with content that the caller may not see.
      await beyondView(() => locks.exclusive(id, () => settle(id)))
    } catch (thrown) {
      await app.jobs.start(settlePlaylists)
      throw thrown
    }
  }

  /**
   * The rows of a shared playlist, after importing content that only its document has.
   * @throws not_found; bad_request: it belongs to the platform
   */
  async function taken(id: string): Promise<CustomPlaylist> {
    const list = rows.get(id)
    if (list && rows.unsettled(id)?.truth !== 'index') return list
    const doc = await collection.get(id)
    if (!doc) throw errors.notFound('playlist', id)
    if (doc.playlist_type !== 'custom')
      throw errors.badRequest(
        say`Only custom playlists can be edited; this one is read from ${{ platform: app.platform.name }}`,
      )
    await rows.unsettleUnknown([id])
    await project(id)
    const found = rows.get(id)
    if (!found) throw errors.notFound('playlist', id)
    return found
  }

  /**
   * Called when an older copy has replaced the ledger or the index: marks playlists that differ, so that private ones
   * lose their documents.
   */
  async function compare(older: 'ledger' | 'index'): Promise<void> {
    for (let lists = rows.after('', CHUNK); lists.length > 0; lists = rows.after(lists.at(-1)!.id, CHUNK))
      await rows.compare(lists, await collection.known(lists.map(({ id }) => id)), older)
    await rows.unsettle(UNKNOWN, 'index')
    await app.jobs.start(settlePlaylists)
  }

  /** Called at the start: repairs interruptions and imports documents of earlier versions. */
  async function begin(): Promise<void> {
    if (rows.unsettledAfter(0, 1).length > 0) await app.jobs.start(settlePlaylists)
  }

  /** One failure does not stop the others. @throws the first error */
  async function settleAll(step: Step): Promise<void> {
    // Missing documents may be restored; until then their rows stay unchanged.
    if (app.index.lost !== undefined) return
    const failed: unknown[] = []
    let marks = rows.unsettledAfter(0, CHUNK)
    for (; marks.length > 0; marks = rows.unsettledAfter(marks.at(-1)!.number, CHUNK))
      for (const mark of marks) {
        const work = () => (mark.id === UNKNOWN ? findUnknown(mark) : locks.exclusive(mark.id, () => settle(mark.id)))
        await step('playlist.settle', work).catch((thrown: unknown) => failed.push(thrown))
      }
    if (failed.length > 0) throw failed[0]
  }

  /** Called when videos are in the archive again: writes the documents of shared playlists whose rows contain them. */
  async function takeIn(videoId?: string): Promise<void> {
    for (const id of await rows.unsettleShared(videoId)) await project(id)
  }

  /** Imports documents that have no rows. */
  async function findUnknown(mark: Unsettled): Promise<void> {
    const custom = { filter: { eq: ['playlist_type', 'custom'] as ['playlist_type', 'custom'] } }
    for await (const batch of collection.scan({ ...custom, batch: SCANNED_TOGETHER }))
      await rows.unsettleUnknown(batch.map(({ id }) => id))
    await rows.noteSettled(mark)
  }

  async function settle(id: string): Promise<void> {
    for (let mark = rows.unsettled(id); mark; mark = rows.unsettled(id)) {
      const doc = await collection.get(id)
      // An imported document of a platform's playlist may have the id of a custom one.
      if (doc?.playlist_type === 'regular') await rows.noteSettled(mark)
      else if (mark.truth === 'index') await take(mark, doc)
      else await write(mark, doc)
    }
  }

  async function take(mark: Unsettled, doc: PlaylistDoc | undefined): Promise<void> {
    if (doc)
      return rows.replace(mark, { name: doc.playlist_name, changedAt: doc.refreshed_at, entries: entriesOf(doc) })
    // The document is missing. Rows with a name date from when the playlist was private; without one it had only a
    // document.
    if (typeof rows.get(mark.id)?.name === 'string') await rows.unsettle(mark.id, 'ledger')
    else await rows.remove(mark.id)
  }

  async function write(mark: Unsettled, doc: PlaylistDoc | undefined): Promise<void> {
    const list = rows.get(mark.id)
    if (list?.isShared) await put(list, doc)
    else await drop(mark.id)
    await rows.noteSettled(mark)
  }

  /**
   * Updates removed videos first, then added ones, then the document, so that a repetition finds the remaining work.
   */
  async function put(list: CustomPlaylist, old: PlaylistDoc | undefined): Promise<void> {
    const { id } = list
    const before = old ? entriesOf(old).map(({ videoId }) => videoId) : []
    const had = new Set(before)
    const listed = rows.entries(id)
    const come = await membership.archived(listed.map(({ videoId }) => videoId).filter((one) => !had.has(one)))
    const entries = listed.filter(({ videoId }) => had.has(videoId) || come.has(videoId))
    const after = entries.map(({ videoId }) => videoId)
    const stay = new Set(after)
    if (old)
      await membership.take(
        id,
        before.filter((videoId) => !stay.has(videoId)),
      )
    else await membership.takeAll(id)
    await membership.add(id, [...come])
    const content = { name: list.name, changedAt: list.changedAt, entries }
    const isThere = old && (await collection.patch(id, { set: contentOf(content) }, { visible: true }))
    const thumbnail = app.media.artUrl('playlist', id)
    if (!isThere) await collection.create(id, customDoc({ id, thumbnail, ...content }), { visible: true })
    await updateThumbnail(id, { before, after }, app)
    await app.emit('playlist.renewed', { id })
  }

  return { change, project, taken, compare, begin, settleAll, takeIn }
}
