/** The playlist ids in the documents of videos: updated in chunks that do not block the index for long. */
import { chunksOf, MAX_WINDOW } from 'archivolt'
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

  async function add(playlistId: string, videoIds: readonly string[]): Promise<void> {
    for (const chunk of chunksOf(videoIds, CHUNK)) {
      const without = {
        and: [{ in: ['platform_id', chunk] }, { not: { eq: ['playlist', playlistId] } }],
      } satisfies Parameters<App['videos']['collection']['patchWhere']>[0]
      await videos.collection.patchWhere(without, { add: { playlist: [playlistId] } }, { visible: true })
    }
  }

  async function take(playlistId: string, videoIds: readonly string[]): Promise<void> {
    for (const chunk of chunksOf(videoIds, CHUNK)) {
      await videos.collection.patchWhere(
        { and: [{ in: ['platform_id', chunk] }, { eq: ['playlist', playlistId] }] },
        { remove: { playlist: [playlistId] } },
        { visible: true },
      )
    }
  }

  /** Removes the playlist from all videos that name it. */
  async function takeAll(playlistId: string): Promise<void> {
    await videos.collection.patchWhere(
      { eq: ['playlist', playlistId] },
      { remove: { playlist: [playlistId] } },
      { visible: true },
    )
  }

  return { archived, add, take, takeAll }
}
