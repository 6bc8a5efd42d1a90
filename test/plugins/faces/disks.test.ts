/** Faces on disks that are full, read-only, or refuse some operations. */
import assert from 'node:assert/strict'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { refusingDisk } from '../../support/refusing-disk.ts'
import { smallDisk } from '../../support/small-disk.ts'
import { aChannel, type TestApp, testApp } from '../../support/testing.ts'
import { comeIn } from './coming.ts'

const MB = 1_000_000
const FILM = 'Boats [UC1]/Season 2026/S2026E1 - To sea [v1].mp4'

/** An archive whose faces may be on this disk. */
async function given(t: TestContext, disk: string) {
  const archive = await testApp(t, { settings: { faceRoots: [disk] } })
  await archive.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
  const admin = archive.as('admin')
  const root = join(disk, 'tv')
  const face = { name: 'TV', root, form: 'shows', selection: {} }
  return {
    ...{ archive, admin, root, face },
    add: async () => {
      const reply = await admin.post('/api/face/', face)
      await archive.settled()
      return reply
    },
    state: async () => (await admin.get('/api/face/')).body.faces[0].state,
  }
}

const film = (archive: TestApp, id: string) => comeIn(archive, { id, title: 'To sea', published: '2026-01-02' })

/** Advances to the time at which the work on a face is retried. */
async function later(archive: TestApp): Promise<void> {
  await archive.clock.advance(61_000)
  await archive.settled()
}

test('on another disk films are symbolic links, as the preview says', async (t) => {
  const disk = await smallDisk(t, 4 * MB)
  if (!disk) return
  const { archive, admin, root, face, add, state } = await given(t, disk.path)
  const { name: _, ...shape } = face
  assert.equal((await admin.post('/api/face/preview/', shape)).body.link, 'symbolic')
  await add()
  await film(archive, 'v1')

  assert.equal(await readlink(join(root, FILM)), archive.app.media.pathOf('UC1', 'v1'))
  assert.deepEqual([(await state()).links, (await state()).problems], [{ symbolic: 1 }, undefined])
  await admin.delete('/api/video/v1/')
  await archive.settled()
  assert.deepEqual(await readdir(root), ['.archivolt-face'])
})

for (const [what, said, spoil] of [
  ['full', 'The disk is full', async (disk: NonNullable<Awaited<ReturnType<typeof smallDisk>>>) => disk.fill()],
  [
    'read-only',
    'The disk is read-only',
    async (disk: NonNullable<Awaited<ReturnType<typeof smallDisk>>>) => {
      await disk.setReadOnly(true)
      return () => disk.setReadOnly(false)
    },
  ],
] as const)
  test(`a disk that is ${what} is reported, and everything continues by itself afterwards`, async (t) => {
    const disk = await smallDisk(t, 4 * MB)
    if (!disk) return
    const { archive, admin, root, add, face, state } = await given(t, disk.path)
    await add()
    await film(archive, 'v1')

    const mend = await spoil(disk)
    await film(archive, 'v2')
    assert.equal((await state()).error, said)
    assert.ok(await lstat(join(root, FILM)))
    const other = await admin.post('/api/face/', { ...face, name: 'Other', root: join(disk.path, 'other') })
    assert.equal(other.status, 422)
    assert.match(other.body.error, /cannot be written \((?:ENOSPC|EROFS)\)/)

    await mend()
    await later(archive)
    assert.equal((await state()).error, undefined)
    const names = await readdir(join(root, FILM, '..'))
    assert.deepEqual(names.sort(), [
      'S2026E1 - To sea [v1].mp4',
      'S2026E1 - To sea [v1].nfo',
      'S2026E2 - To sea [v2].mp4',
      'S2026E2 - To sea [v2].nfo',
      'season.nfo',
    ])
  })

for (const [what, refused, said] of [
  [
    'takes no links, as exFAT',
    ['link', 'symlink'],
    /cannot contain links to the library \(EPERM\): choose a folder on the library’s disk/,
  ],
  ['refuses to rename', ['rename'], /cannot be written \(EPERM\): check its disk and its permissions/],
] as const)
  test(`a disk that ${what} is refused with the reason, and nothing is left on it`, async (t) => {
    const disk = await refusingDisk(t, refused)
    if (disk === undefined) return
    const { admin, add, root, face } = await given(t, disk)

    const { status, body } = await add()

    assert.deepEqual([status, said.test(body.error)], [422, true], body.error)
    assert.deepEqual((await admin.get('/api/face/')).body.faces, [])
    assert.deepEqual(await readdir(root), [])
    const { name: _, ...shape } = face
    const shown = (await admin.post('/api/face/preview/', shape)).body
    if (refused.includes('link' as never)) assert.match(shown.reason, said)
  })
