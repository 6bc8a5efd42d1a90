/** The playlist ids in the documents of videos: updated in chunks that do not block the index for long. */
import { chunksOf, MAX_WINDOW } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'

const CHUNK = 500

export type Membership = ReturnType<typeof openMembership>

export function openMembership({ videos }: Pick<App, 'videos'>) {
  /** Those of these videos that are archived. */
  async function archived(ids: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>()
    for (const chunk of chunksOf(ids, MAX_WINDOW)) for (const id of await videos.known(chunk)) found.add(id)
    return found
  }

  const lists = (playlistId: string): VideoFilter => ({ eq: ['playlist', playlistId] })

  async function add(playlistId: string, videoIds: readonly string[]): Promise<void> {
    for (const chunk of chunksOf(videoIds, CHUNK)) {
      const without: VideoFilter = { and: [{ in: ['platform_id', chunk] }, { not: lists(playlistId) }] }
      await videos.collection.patchWhere(without, { add: { playlist: [playlistId] } }, { visible: true })
    }
  }

  async function takeWhere(playlistId: string, where: VideoFilter): Promise<void> {
    await videos.collection.patchWhere(where, { remove: { playlist: [playlistId] } }, { visible: true })
  }

  async function take(playlistId: string, videoIds: readonly string[]): Promise<void> {
    for (const chunk of chunksOf(videoIds, CHUNK))
      await takeWhere(playlistId, { and: [{ in: ['platform_id', chunk] }, lists(playlistId)] })
  }

  /** Removes the playlist from all videos that name it. */
  const takeAll = (playlistId: string): Promise<void> => takeWhere(playlistId, lists(playlistId))

  return { archived, add, take, takeAll }
}
