/**
 * The picture of a custom playlist: that of its first video. A view that hides pictures of playlists gets another URL
 * (`join-records.ts`).
 */
import type { App } from './app.ts'
import { WATCH_LATER } from './custom-rows.ts'

/** Number of videos whose pictures are looked up: if none of them has one, the playlist has no picture. */
const MOST_LOOKED_UP = 50

/** The URL for a private playlist, which has no picture of its own, because others could request it. */
export const privateThumbnail = (firstId: string | undefined, { media }: Pick<App, 'media'>): string =>
  firstId === undefined ? media.artUrl('playlist', WATCH_LATER) : media.artUrl('video', firstId)

/** Stores the picture of a shared playlist whose videos have changed. A missing picture is not an error. */
export async function updateThumbnail(
  id: string,
  { before, after }: Record<'before' | 'after', readonly string[]>,
  { media, log }: Pick<App, 'media' | 'log'>,
): Promise<void> {
  const firstWithArt = async (ids: readonly string[]): Promise<string | undefined> => {
    for (const one of ids.slice(0, MOST_LOOKED_UP)) if (await media.hasArt('video', one)) return one
    return undefined
  }
  try {
    const first = await firstWithArt(after)
    if (first === undefined) return await media.removeArt('playlist', id)
    if (first === (await firstWithArt(before)) && (await media.hasArt('playlist', id))) return
    await media.keepArt('playlist', id, media.artPathOf('video', first))
  } catch (err) {
    log.warn({ err, playlist: id }, 'the thumbnail of a custom playlist could not be made')
  }
}
