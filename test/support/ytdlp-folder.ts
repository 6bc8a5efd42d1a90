/** A folder as yt-dlp leaves it, for tests: films with information files, and the files that belong to them. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FILM_FILE } from './film.ts'
import type { PlacesApp } from './places.ts'

/** The information file that yt-dlp writes for a film. */
export const infoOf = (id: string, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  id,
  title: `Title of ${id}`,
  description: `About ${id}\nin two lines`,
  channel_id: 'UCaaaaaaaaaaaaaaaaaaaaaa',
  channel: 'Harbour & Tide',
  uploader: 'Harbour & Tide',
  uploader_id: '@harbour',
  duration: 1,
  upload_date: '20230715',
  timestamp: 1_689_415_200,
  epoch: 1_700_000_000,
  webpage_url: `https://www.youtube.com/watch?v=${id}`,
  view_count: 12,
  like_count: 3,
  categories: ['Education'],
  tags: ['sea'],
  live_status: 'not_live',
  media_type: 'video',
  extractor: 'youtube',
  extractor_key: 'Youtube',
  ext: 'mp4',
  width: 320,
  height: 180,
  vcodec: 'avc1.42c00d',
  acodec: 'mp4a.40.2',
  vbr: 100.4,
  abr: 64,
  _type: 'video',
  formats: [{ format_id: '137', url: 'https://example.invalid/137' }],
  ...changes,
})

/**
 * Writes a film and, with `info`, its information file.
 * @param path  of the film, relative to the root
 */
export async function layFilm(
  { lay }: Pick<PlacesApp, 'lay'>,
  path: string,
  info?: Record<string, unknown>,
  more: Record<string, string | Buffer> = {},
): Promise<void> {
  const base = path.replace(/\.[^.]+$/, '')
  await lay(path, await readFile(FILM_FILE))
  if (info) await lay(`${base}.info.json`, JSON.stringify(info))
  for (const [ending, content] of Object.entries(more)) await lay(`${base}.${ending}`, content)
}

/** The first bytes of an mp4. For tests with many films their number matters, not their size. */
const HEAD = Buffer.from('\0\0\0\u0020ftypisom\0\0\u0002\0isomiso2avc1mp41', 'latin1')

/** Writes very many films with information files, in folders of their channels. */
export async function layMany(folder: string, films: number, channels = 50): Promise<void> {
  for (let channel = 0; channel < channels; channel++) {
    const inner = join(folder, `Channel ${channel}`)
    await mkdir(inner, { recursive: true })
    for (let at = channel; at < films; at += channels) {
      const id = `v${String(at).padStart(10, '0')}`
      const base = join(inner, `A film about number ${at} [${id}]`)
      const info = infoOf(id, {
        channel_id: `UC${String(channel).padStart(22, '0')}`,
        channel: `Channel ${channel}`,
        description: 'words '.repeat(300),
      })
      await Promise.all([writeFile(`${base}.mp4`, HEAD), writeFile(`${base}.info.json`, JSON.stringify(info))])
    }
  }
}
