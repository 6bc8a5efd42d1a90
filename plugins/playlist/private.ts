/** Private playlists, Watch later among them: read and changed by their account alone, in the ledger (contract 9.6). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { chunksOf, errors, fold } from 'archivolt'
import type { App } from './app.ts'
import { type CustomAction, type CustomPlaylists, customDoc } from './custom.ts'
import { neighbour } from './entry-order.ts'
import type { PlaylistRecords } from './join-records.ts'
import type { Membership } from './membership.ts'
import { type OwnEntry, type OwnPlaylist, type OwnRows, WATCH_LATER } from './own-rows.ts'

interface Parts {
  rows: OwnRows
  custom: Pick<CustomPlaylists, 'toEntry' | 'firstShown'>
  membership: Pick<Membership, 'archived'>
  records: PlaylistRecords
}

/** Lists whose entries are held, and looked up, together. */
const MADE_AT_ONCE = 4

const byName = (one: OwnPlaylist, other: OwnPlaylist): number => {
  const [first, second] = [fold(one.name ?? ''), fold(other.name ?? '')]
  return first < second ? -1 : first > second ? 1 : one.id < other.id ? -1 : 1
}

const nameOf = ({ id, name }: OwnPlaylist): string => (id === WATCH_LATER ? 'Watch later' : (name ?? ''))

export class PrivatePlaylists {
  readonly #app: App
  readonly #rows: OwnRows
  readonly #custom: Pick<CustomPlaylists, 'toEntry' | 'firstShown'>
  readonly #membership: Pick<Membership, 'archived'>
  readonly #records: PlaylistRecords

  constructor(app: App, { rows, custom, membership, records }: Parts) {
    this.#app = app
    this.#rows = rows
    this.#custom = custom
    this.#membership = membership
    this.#records = records
  }

  /** Entries whose video is not there are left out. */
  async recordsOf(lists: readonly OwnPlaylist[]): Promise<string[]> {
    const texts: string[] = []
    for (const some of chunksOf(lists, MADE_AT_ONCE)) {
      const read = some.map((list) => ({ list, entries: this.#rows.entries(list) }))
      const ids = read.flatMap(({ entries }) => entries.map(({ videoId }) => videoId))
      const archived = await this.#membership.archived([...new Set(ids)])
      for (const { list, entries } of read) {
        const there = entries.filter(({ videoId }) => archived.has(videoId))
        texts.push(this.#records.ofPrivate(this.#textOf(list, there), list.userId))
        // A long one takes its time.
        await nextTurn()
      }
    }
    return texts
  }

  /** Those of an account, by name; Watch later first, once there is something in it. */
  of(userId: number): OwnPlaylist[] {
    const lists = this.#rows.ofUser(userId).filter(({ stage }) => stage !== 'shared')
    const later = this.#rows.watchLater(userId)
    return [...(this.#rows.isEmpty(later) ? [] : [later]), ...lists.toSorted(byName)]
  }

  /** @throws not_found: video, or it is not in the list; conflict: the list is full */
  async act(list: OwnPlaylist, action: CustomAction): Promise<void> {
    const { videoId } = action
    if (action.action === 'create') {
      const { title, uploader } = await this.#custom.toEntry(videoId)
      return this.#rows.add(list, { videoId, title, uploader }, { isFirst: list.id === WATCH_LATER })
    }
    const isIn = await (action.action === 'remove' ? this.#take(list, videoId) : this.#move(list, action))
    if (!isIn) throw errors.notFound('video in this playlist', videoId)
  }

  /** As the text of a document that nobody keeps. */
  #textOf(list: OwnPlaylist, entries: readonly OwnEntry[]): string {
    const [first] = entries
    // No picture of its own: that would lie where others can ask for it.
    const thumbnail = first
      ? this.#app.media.artUrl('video', first.videoId)
      : this.#app.media.artUrl('playlist', WATCH_LATER)
    const { refreshed_at: _, ...shown } = customDoc({ ...list, name: nameOf(list), thumbnail, entries })
    return JSON.stringify(shown)
  }

  /** @returns false: the video is not in the list, as far as its account sees */
  async #take(list: OwnPlaylist, videoId: string): Promise<boolean> {
    return (await this.#membership.archived([videoId])).has(videoId) && this.#rows.take(list, videoId)
  }

  /** As `take`. */
  async #move(list: OwnPlaylist, { action, videoId, index = 0, hideWatchedBy }: CustomAction): Promise<boolean> {
    const ids = this.#rows.videoIds(list)
    const archived = await this.#membership.archived(ids)
    const shown = ids.filter((id) => archived.has(id))
    const from = shown.indexOf(videoId)
    if (from < 0) return false
    if (action === 'top' || action === 'bottom')
      return this.#rows.move(list, videoId, action === 'top' ? 'first' : 'last')
    const to =
      action === 'move'
        ? Math.min(index, shown.length - 1)
        : await neighbour(shown, from, action === 'up' ? -1 : 1, this.#custom.firstShown(hideWatchedBy))
    return to === undefined || this.#rows.move(list, videoId, { videoId: shown[to]! })
  }
}
