/**
 * Checks what must be true of a library whenever no job runs: every document has its file, every file its document, and
 * nothing is half done.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { idIn } from '../../plugins/sidecar/paths.ts'
import type { Server } from './server.ts'

interface Shown {
  platform_id: string
  media_url: string
  vid_thumb_url: string
  subtitles: Array<{ media_url: string }>
}

async function all<Item>(server: Server, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page++) {
    const { status, body } = await server.api('GET', `${path}?page=${page}`)
    if (status === 404) return items
    items.push(...body.data)
    if (!body.paginate.last_page) return items
  }
}

export const archivedIds = async (server: Server): Promise<string[]> =>
  (await all<Shown>(server, '/api/video/')).map(({ platform_id }) => platform_id).toSorted()
export const queuedIds = async (server: Server): Promise<string[]> =>
  (await all<Shown>(server, '/api/download/')).map(({ platform_id }) => platform_id).toSorted()

/** @throws AssertionError that names the first problem */
export async function assertWhole(server: Server, dataDir: string, media = join(dataDir, 'media')): Promise<void> {
  const videos = await all<Shown>(server, '/api/video/')
  const expected = videos
    .flatMap(({ media_url, subtitles }) => [media_url, ...subtitles.map((subtitle) => subtitle.media_url)])
    .map((url) => url.replace('/media/', ''))
    .toSorted()
  const ids = new Set(videos.map(({ platform_id }) => platform_id))
  const found: string[] = []
  for (const channel of await readdir(media)) {
    if (channel.startsWith('.')) continue
    // Sidecars are written each hour, and may exist already.
    for (const name of await readdir(join(media, channel)))
      if (!ids.has(idIn(name) ?? '')) found.push(`${channel}/${name}`)
  }
  assert.deepEqual(found.toSorted(), expected, 'the files of the library are those of the documents')
  for (const hidden of ['.staging', '.trash']) {
    const left = existsSync(join(media, hidden)) ? await readdir(join(media, hidden)) : []
    assert.deepEqual(left, [], `${hidden} is empty`)
  }
  const said = (await server.api('GET', '/api/search/?query=full:tide%20flut')).body.results.fulltext_results as Shown[]
  for (const { platform_id } of said) assert.ok(ids.has(platform_id), `a subtitle of ${platform_id} has no video`)
  for (const { platform_id, vid_thumb_url } of videos) {
    assert.equal((await server.api('GET', vid_thumb_url)).status, 200, `${platform_id} has a thumbnail`)
    assert.equal((await server.api('GET', `/api/video/${platform_id}/comment/`)).status, 200)
  }
}
