/** Adds films to the archive as a download does. */
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FILM_FILE } from '../../support/film.ts'
import { aVideo, type TestApp } from '../../support/testing.ts'

export type Coming = NonNullable<Parameters<typeof aVideo>[0]> & { id: string }

/** Adds its file and its document, without the event. */
export async function lay(archive: TestApp, { channelId = 'UC1', ...video }: Coming): Promise<void> {
  const film = archive.app.media.pathOf(channelId, video.id)
  await mkdir(dirname(film), { recursive: true })
  await copyFile(FILM_FILE, film)
  await archive.given(aVideo({ channelId, ...video }))
}

export async function comeIn(archive: TestApp, video: Coming): Promise<void> {
  await lay(archive, video)
  const { id, channelId = 'UC1' } = video
  await archive.app.emit('video.added', { id, channelId, why: 'new' })
  await archive.settled()
}
