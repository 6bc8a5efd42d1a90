/** Entries of the bin on an offline disk stay there, and a film is never deleted while its video is in the archive. */
import assert from 'node:assert/strict'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo, testApp } from 'archivolt/testing'
import { noDisk, secondDisk } from '../../support/second-disk.ts'

for (const isAwayAtTheStart of [false, true])
  test(`an entry on another disk is restored only while the disk is online${isAwayAtTheStart ? ', even if it was offline at the start' : ''}`, {
    skip: noDisk,
  }, async (t) => {
    const app = await testApp(t)
    const disk = await secondDisk(t)
    const away = `${disk}-away`
    t.after(() => rm(away, { recursive: true, force: true }))
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
    await symlink(disk, join(app.app.settings.mediaDir, 'UC1'))
    await writeFile(join(disk, 'v1.mp4'), 'a film')
    const admin = app.as('admin')
    const bin = async () => (await admin.get('/api/bin/')).body.paginate.total_hits

    for (const path of ['/api/video/v1/', '/api/channel/UC1/']) {
      const { removal } = (await admin.delete(path)).body
      const inBin = await bin()

      await rename(disk, away)
      if (isAwayAtTheStart) await app.restart()
      const refused = await admin.post('/api/bin/restore/', { removal })
      assert.match(refused.text, /UC1 .* is a broken link: connect its disk/)
      assert.deepEqual([await app.ids('video'), await bin()], [[], inBin])
      await rename(away, disk)
      if (!isAwayAtTheStart) await app.restart()

      const restored = await admin.post('/api/bin/restore/', { removal })
      assert.equal(restored.body.restored, inBin, restored.text)
      assert.deepEqual([await readdir(disk), await app.ids('video'), await bin()], [['v1.mp4'], ['v1'], 0])
    }
  })

test('the trash of an ended removal is put back if its video is in the archive, and deleted otherwise', async (t) => {
  const app = await testApp(t)
  const { ledger, settings } = app.app
  const folder = join(settings.mediaDir, 'UC1')
  await app.given(aChannel({ id: 'UC1' }), ...['v1', 'v2'].map((id) => aVideo({ id, channelId: 'UC1' })))
  await mkdir(folder)
  for (const name of ['v1.mp4', 'v1.en.vtt', 'v2.mp4']) await writeFile(join(folder, name), name)
  await app.as('admin').post('/api/video/bulk/', { action: 'delete', ids: ['v1', 'v2'] })
  await app.given(aVideo({ id: 'v1', channelId: 'UC1' }))
  await ledger.write(() => void ledger.sql('DELETE FROM media_aside').run())

  await app.restart()
  await app.app.media.absence()

  assert.deepEqual((await readdir(folder)).sort(), ['v1.en.vtt', 'v1.mp4'])
  assert.deepEqual(await readdir(join(settings.mediaDir, '.trash')), [])
})
