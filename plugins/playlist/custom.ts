/** Custom playlists, private or shared, including Watch later: changes and reads them in the ledger (contract 9.6). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { chunksOf, errors, fold } from 'archivolt'
import type { App } from './app.ts'
import { customDoc } from './custom-doc.ts'
import { type CustomEntry, type CustomPlaylist, type CustomRows, isWatchLater, WATCH_LATER } from './custom-rows.ts'
import { privateThumbnail } from './custom-thumbnail.ts'
import { type Action, neighbour } from './entry-order.ts'
import type { PlaylistRecords } from './join-records.ts'
import type { Membership } from './membership.ts'

const CHUNK = 1000
/** Number of playlists whose entries are in memory and looked up together. */
const MADE_AT_ONCE = 4

export interface CustomAction {
  action: Action
  videoId: string
  /** For `move`: the position in the whole list, from 0. */
  index?: number
  /** For up and down: skips videos that this account has watched. */
  hideWatchedBy?: number | undefined
}

interface Parts {
  rows: CustomRows
  membership: Pick<Membership, 'archived'>
  records: PlaylistRecords
}

const byName = (one: CustomPlaylist, other: CustomPlaylist): number => {
  const [first, second] = [fold(one.name ?? ''), fold(other.name ?? '')]
  return first < second ? -1 : first > second ? 1 : one.id < other.id ? -1 : 1
}

export type CustomPlaylists = ReturnType<typeof openCustomPlaylists>

export function openCustomPlaylists(app: App, { rows, membership, records }: Parts) {
  /** Records of private playlists. Entries without an archived video are omitted. */
  async function recordsOf(lists: readonly CustomPlaylist[]): Promise<string[]> {
    const texts: string[] = []
    for (const some of chunksOf(lists, MADE_AT_ONCE)) {
      const read = some.map((list) => ({ list, entries: rows.entries(list.id) }))
      const ids = read.flatMap(({ entries }) => entries.map(({ videoId }) => videoId))
      const archived = await membership.archived([...new Set(ids)])
      for (const { list, entries } of read) {
        const there = entries.filter(({ videoId }) => archived.has(videoId))
        texts.push(records.ofPrivate(textOf(list, there), list.ownerId!))
        // A long playlist takes a while.
        await nextTurn()
      }
    }
    return texts
  }

  /** The account's private playlists by name; Watch later comes first, if it is not empty. */
  function privateTo(userId: number): CustomPlaylist[] {
    const lists = rows.ofOwner(userId).filter(({ privateTo }) => privateTo !== null)
    const later = rows.watchLater(userId)
    return [...(rows.isEmpty(later.id) ? [] : [later]), ...lists.toSorted(byName)]
  }

  /** @throws not_found: no such playlist or video, or the video is not in it; conflict: the playlist is full */
  async function act(list: CustomPlaylist, action: CustomAction): Promise<void> {
    const { videoId } = action
    if (action.action === 'create') return rows.add(list, await toEntry(videoId))
    const isIn = await (action.action === 'remove' ? take(list, videoId) : move(list, action))
    if (!isIn) throw errors.notFound('video in this playlist', videoId)
  }

  async function toEntry(videoId: string): Promise<CustomEntry> {
    const video = await app.videos.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    const names = await app.channels.names([video.channel_id])
    return { videoId, title: video.title, uploader: names.get(video.channel_id) ?? null }
  }

  /** The text of a document, which is not stored. */
  function textOf(list: CustomPlaylist, entries: readonly CustomEntry[]): string {
    const thumbnail = privateThumbnail(entries[0]?.videoId, app)
    const shown = isWatchLater(list) ? { ...list, id: WATCH_LATER, name: 'Watch later' } : list
    const { refreshed_at: _, ...doc } = customDoc({ ...shown, thumbnail, entries })
    return JSON.stringify(doc)
  }

  /** @returns false: the caller does not see the video in the list */
  async function take(list: CustomPlaylist, videoId: string): Promise<boolean> {
    return (await membership.archived([videoId])).has(videoId) && rows.take(list.id, videoId)
  }

  /** @returns false: the caller does not see the video in the list */
  async function move(
    list: CustomPlaylist,
    { action, videoId, index = 0, hideWatchedBy }: CustomAction,
  ): Promise<boolean> {
    const ids = rows.videoIds(list.id)
    const archived = await membership.archived(ids)
    const shown = ids.filter((id) => archived.has(id))
    const from = shown.indexOf(videoId)
    if (from < 0) return false
    if (action === 'top' || action === 'bottom') return rows.move(list.id, videoId, action === 'top' ? 'first' : 'last')
    const firstShown = (some: readonly string[]) =>
      hideWatchedBy === undefined ? some[0] : firstUnwatched(some, hideWatchedBy)
    const to =
      action === 'move'
        ? Math.min(index, shown.length - 1)
        : await neighbour(shown, from, action === 'up' ? -1 : 1, firstShown)
    return rows.move(list.id, videoId, { videoId: shown[to ?? from]! })
  }

  async function firstUnwatched(ids: readonly string[], userId: number): Promise<string | undefined> {
    for (const some of chunksOf(ids, CHUNK)) {
      const { hits } = await app.videos.collection.find({
        ids: some,
        filter: { not: { eq: ['watched_by', String(userId)] } },
        size: 1,
        withoutTotal: true,
        withoutTexts: true,
      })
      if (hits[0]) return hits[0].id
    }
    return undefined
  }

  return { recordsOf, privateTo, act }
}
