/** Files near a location that may be a catalog: sidecars of films do not use up their limit. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesNear } from '../../../plugins/adoption/catalogs/find-files.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'

test('possible catalogs are found near films, and no information file is listed as one', async (t) => {
  const root = await temporaryFolder(lastFirst(t))
  const place = join(root, 'films')
  await mkdir(join(place, 'Channel'), { recursive: true })
  const names = ['a.info.json', 'a.mp4', '.ytdl-sub-x-download-archive.json', 'local_db.json', 'dump.tar.gz']
  for (const name of names) await writeFile(join(place, 'Channel', name), '')

  const found = filesNear(place, [root])

  assert.deepEqual(found.map((path) => path.slice(place.length)).sort(), [
    '/Channel/.ytdl-sub-x-download-archive.json',
    '/Channel/dump.tar.gz',
    '/Channel/local_db.json',
  ])
})
