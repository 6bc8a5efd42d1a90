/**
 * Changes by a disk are found, named and, if the platform still has the video, repaired; other changes are
 * distinguished.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { epochSeconds } from 'archivolt'
import { retag } from '../../support/ffmpeg.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aVideo, type TestApp, testApp } from '../../support/plugin-testing.ts'
import '../../support/long.ts'

const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
const admin = (app: TestApp) => app.as('admin')
const summary = async (app: TestApp) => (await admin(app).get('/api/checksum/')).body
const faults = async (app: TestApp) =>
  (await admin(app).get('/api/checksum/fault/')).body.data.map(
    ({ kind, id, part, state, mending }: Record<string, unknown>) =>
      `${kind} ${id}${part === '' ? '' : ` ${part}`}: ${state}${mending ? ', mending' : ''}`,
  )
const alarms = ({ app }: TestApp) => app.jobs.notifications().filter(({ title }) => title === 'Damaged files')
const scrub = async (app: TestApp) => {
  assert.equal((await admin(app).post('/api/task-name/scrub/')).status, 200)
  await app.settled()
}

/** Flips one bit in the middle of the data and keeps the file's times, as a failing disk does. */
async function flipBit(path: string, where = 0.7): Promise<void> {
  const { size, atimeMs, mtimeMs } = await stat(path)
  const file = await open(path, 'r+')
  const at = Math.floor(size * where)
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte[0]! ^= 1
  await file.write(byte, 0, 1, at)
  await file.utimes(atimeMs / 1000, mtimeMs / 1000)
  await file.close()
}

for (const { index, skip } of INDEXES)
  test(`on ${index}: a flipped bit is found in each kind of file, and repaired if the platform has the video`, {
    skip,
  }, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope, { settings: await indexSettings(scope, index, 'scrub') })
    const { media } = app.app
    await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
    await app.download(aVideo({ id: 'v2', channelId: 'UC1', title: 'Only here' }))
    await app.settled()
    const [film, other] = ['v1', 'v2'].map((id) => media.pathOf('UC1', id)) as [string, string]
    const subtitle = media.subtitlePathOf('UC1', 'v2', 'en')
    await app.app.videos.change('v2', { set: { active: false } })

    const shown = (await app.as('user').get('/api/checksum/video/v1/')).body
    assert.deepEqual(
      shown.map(({ kind, sha256: sum, state }: Record<string, string>) => [kind, sum, state]),
      [
        ['video', await sha256(film), 'whole'],
        ['subtitle', await sha256(media.subtitlePathOf('UC1', 'v1', 'en')), 'whole'],
        ['picture', await sha256(media.artPathOf('video', 'v1')), 'whole'],
      ],
      'made when it came in',
    )
    await scrub(app)
    assert.deepEqual(await faults(app), [])
    const { files, read, bytes, oldest, states } = await summary(app)
    assert.deepEqual([files, read, states.whole], [6, bytes, 6])
    assert.ok(oldest > 0)

    const whole = await readFile(film)
    for (const path of [film, other, subtitle, media.artPathOf('video', 'v2')]) await flipBit(path)
    await app.clock.advance(1000)
    await scrub(app)

    assert.deepEqual(await faults(app), ['picture v2 video: rotten', 'subtitle v2 en: rotten', 'video v2: rotten'])
    assert.deepEqual(await readFile(film), whole, 'fetched again')
    const trash = await readdir(`${app.app.settings.mediaDir}/.trash`, { recursive: true })
    assert.ok(
      trash.some((name) => name.endsWith('v1.mp4')),
      `the damaged film is kept: ${trash}`,
    )
    const told = alarms(app)
    assert.deepEqual(
      told.map(({ messages }) => messages),
      [['Damaged files that have not been replaced: 3. See Settings → Safety']],
    )

    const accepted = { kind: 'video', id: 'v2', part: '', command: 'accept' }
    assert.equal((await admin(app).post('/api/checksum/fault/', accepted)).status, 200)
    assert.equal((await admin(app).post('/api/checksum/fault/', { ...accepted, id: 'nobody' })).status, 404)
    await rm(subtitle)
    await rm(media.artPathOf('video', 'v2'))
    await app.clock.advance(1000)
    await scrub(app)
    assert.deepEqual(await faults(app), ['picture v2 video: missing', 'subtitle v2 en: missing'])
    assert.equal((await summary(app)).alarms, 0)
    assert.deepEqual(alarms(app), [], 'somebody has answered')
  })

test('a film that is replaced while its first checksum is made gets that of the new file', async (t) => {
  const app = await testApp(t)
  const { checksums, media } = app.app
  const { streamHash } = media
  media.streamHash = async (path, signal) => {
    media.streamHash = streamHash
    await writeFile(`${path}.new`, Buffer.concat([await readFile(path), Buffer.alloc(100)]))
    await rename(`${path}.new`, path)
    await checksums.noteWritten([{ kind: 'video', id: 'v1' }])
    return streamHash(path, signal)
  }

  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))
  await app.settled()
  await scrub(app)

  assert.equal(media.streamHash, streamHash, 'the film was replaced')
  const [film] = (await app.as('user').get('/api/checksum/video/v1/')).body
  assert.equal(film.sha256, await sha256(media.pathOf('UC1', 'v1')))
  assert.deepEqual(await faults(app), [])
})

test('changed tags are no damage, neither are our own changes, and unreadable files are distinguished', async (t) => {
  const app = await testApp(t)
  const { media, videos, ledger } = app.app
  for (const id of ['v1', 'v2', 'v3']) await app.download(aVideo({ id, channelId: 'UC1' }))
  for (const id of ['v1', 'v2', 'v3']) await videos.change(id, { set: { active: false } })
  const [tagged, ours, lost] = ['v1', 'v2', 'v3'].map((id) => media.pathOf('UC1', id)) as [string, string, string]

  await retag(tagged, `${tagged}.new.mp4`, 'Renamed')
  await rename(`${tagged}.new.mp4`, tagged)
  const made = `${await media.staging('v2')}/v2.mp4`
  await mkdir(dirname(made), { recursive: true })
  await retag(ours, made, 'Ours')
  await media.adopt('UC1', 'v2', { mediaPath: made, subtitles: [] })
  await rm(lost)
  await mkdir(lost)
  await app.clock.advance(1000)
  await scrub(app)

  assert.deepEqual(await faults(app), ['video v1: rewritten', 'video v3: unreadable'])
  assert.equal(
    (await admin(app).post('/api/checksum/fault/', { kind: 'video', id: 'v1', part: '', command: 'accept' })).status,
    200,
  )
  assert.deepEqual(await faults(app), ['video v3: unreadable'])
  assert.deepEqual((await app.as('user').get('/api/checksum/video/v2/')).body[0].sha256, await sha256(ours))

  const before = ledger
    .sql("SELECT hex(sha256) AS sum, streams, read_at FROM checksum_file WHERE id = 'v1' AND kind = 'video'")
    .all()
  await admin(app).delete('/api/video/v1/')
  await app.settled()
  assert.deepEqual(ledger.sql("SELECT 1 FROM checksum_file WHERE id = 'v1'").all(), [])
  const [entry] = (await admin(app).get('/api/bin/')).body.data
  await admin(app).post('/api/bin/restore/', { entries: [entry.id] })
  await app.settled()
  assert.deepEqual(
    ledger
      .sql("SELECT hex(sha256) AS sum, streams, read_at FROM checksum_file WHERE id = 'v1' AND kind = 'video'")
      .all(),
    before,
    'the bin gives the checksum back',
  )
})

test('a film that its owner has exchanged is no damage; one that cannot be decoded is', async (t) => {
  const app = await testApp(t)
  const { media } = app.app
  for (const id of ['v1', 'v2', 'v3']) await app.download(aVideo({ id, channelId: 'UC1' }))
  await app.settled()
  const [film, other, cut] = ['v1', 'v2', 'v3'].map((id) => media.pathOf('UC1', id)) as [string, string, string]
  const subtitle = media.subtitlePathOf('UC1', 'v1', 'en')
  execFileSync('ffmpeg', ['-v', 'error', '-i', film, '-vf', 'scale=64:-2', '-c:a', 'copy', `${film}.new.mp4`])
  await rename(`${film}.new.mp4`, film)
  await writeFile(subtitle, 'WEBVTT\n\n00:00.000 --> 00:01.000\ncorrected by hand\n')
  await writeFile(other, 'no film')
  // The rest of this one can be decoded.
  execFileSync('ffmpeg', ['-v', 'error', '-i', cut, '-c', 'copy', '-movflags', '+faststart', `${cut}.new.mp4`])
  await truncate(`${cut}.new.mp4`, Math.floor(((await stat(cut)).size * 3) / 5))
  await rename(`${cut}.new.mp4`, cut)
  const [mine, corrected] = [await sha256(film), await sha256(subtitle)]
  for (const id of ['v2', 'v3']) await app.app.videos.change(id, { set: { active: false } })
  await app.clock.advance(1000)

  await scrub(app)

  assert.deepEqual((await faults(app)).sort(), [
    ...['subtitle v1 en: rewritten', 'video v1: rewritten'],
    ...['video v2: rotten', 'video v3: rotten'],
  ])
  assert.deepEqual([await sha256(film), await sha256(subtitle)], [mine, corrected])
  await app.clock.advance(1000)
  await scrub(app)
  assert.deepEqual((await faults(app)).sort(), ['video v2: rotten', 'video v3: rotten'], 'the new content counts')
})

test('a disk that fails halfway ends the scrub, and nothing is downloaded again', async (t) => {
  const app = await testApp(t)
  const ids = ['v1', 'v2', 'v3', 'v4', 'v5']
  for (const id of ids) await app.download(aVideo({ id, channelId: 'UC1' }))
  await app.settled()
  const paths = ids.map((id) => app.app.media.pathOf('UC1', id))
  const queued = () => app.app.queue.waiting()
  const before = queued()
  // Folders cannot be read either.
  for (const path of paths.slice(1)) {
    await rename(path, `${path}.before`)
    await mkdir(path)
  }
  await app.clock.advance(1000)

  await scrub(app)

  const [run] = (await admin(app).get('/api/task-name/scrub/')).body
  assert.equal(run.status, 'FAILURE')
  assert.match(run.result, /3 files in a row cannot be read, so nothing is downloaded again: check the disk/)
  assert.deepEqual(
    await faults(app),
    ['v2', 'v3', 'v4'].map((id) => `video ${id}: unreadable`),
  )
  assert.equal(alarms(app).length, 1)
  assert.deepEqual(queued(), before)

  for (const path of paths.slice(1)) {
    await rm(path, { recursive: true })
    await rename(`${path}.before`, path)
  }
  await app.clock.advance(1000)
  await scrub(app)
  assert.deepEqual(await faults(app), [])
  assert.deepEqual(alarms(app), [])
})

test('each day a part is read, within the hours, the files that were read longest ago first', async (t) => {
  const app = await testApp(t)
  const { ledger } = app.app
  for (const id of ['v1', 'v2', 'v3', 'v4']) await app.download(aVideo({ id, channelId: 'UC1' }))
  const day = async () => {
    const since = epochSeconds(app.clock)
    for (let hour = 0; hour < 24; hour++) {
      await app.clock.advance(3_600_000)
      await app.settled()
    }
    return ledger
      .sql<{ id: string; hour: number }>(
        `SELECT id, CAST(strftime('%H', read_at, 'unixepoch', 'localtime') AS INTEGER) AS hour FROM checksum_file
         WHERE kind = 'video' AND read_at > ? ORDER BY read_at`,
      )
      .all(since)
  }
  await admin(app).post('/api/config/', { checksums: { period: 0 } })
  assert.deepEqual(await day(), [], 'switched off')
  await admin(app).post('/api/config/', { checksums: { period: 4, from: 2, until: 5 } })

  const days = [await day(), await day(), await day(), await day(), await day()]

  const read = days.flat()
  assert.ok(
    read.every(({ hour }) => hour >= 2 && hour < 5),
    JSON.stringify(read),
  )
  assert.ok(
    days.every((some) => some.length < 4),
    `a part each day: ${JSON.stringify(days)}`,
  )
  assert.deepEqual(new Set(read.map(({ id }) => id)), new Set(['v1', 'v2', 'v3', 'v4']), 'each within the period')
})

test('files that were read while the clock was ahead are read again once it is right', async (t) => {
  const app = await testApp(t)
  const right = app.clock.now()
  for (const id of ['v1', 'v2', 'v3', 'v4']) await app.download(aVideo({ id, channelId: 'UC1' }))
  await admin(app).post('/api/config/', { checksums: { period: 4, from: 0, until: 0 } })
  app.clock.set(right + 4000 * 86_400_000)
  await scrub(app)

  app.clock.set(right)
  for (let hour = 0; hour < 48; hour++) {
    await app.clock.advance(3_600_000)
    await app.settled()
  }

  const { read, bytes, oldest } = await summary(app)
  assert.equal(read, bytes)
  assert.ok(oldest < right / 1000 + 49 * 3600, 'no time is in the future')
  assert.equal(app.app.checksums.isDue(), false, 'only once')
})

test('a clock that is set back while all files are read causes none to be read twice', async (t) => {
  const app = await testApp(t)
  const { ledger, checksums } = app.app
  for (const id of ['v1', 'v2', 'v3']) await app.download(aVideo({ id, channelId: 'UC1' }))
  app.clock.set(app.clock.now() + 7_200_000)
  const { set } = checksums.rows
  let reads = 0
  checksums.rows.set = (...change) => {
    if (++reads === 2) app.clock.set(app.clock.now() - 3_600_000)
    if (reads > 20) throw new Error('read again and again')
    return set(...change)
  }

  await scrub(app)

  const { files } = ledger.sql<{ files: number }>('SELECT count(*) AS files FROM checksum_file').get()!
  assert.ok(reads <= files + 1, `${reads} reads of ${files} files`)
})

test('a download reads only its own files; an older library waits for the scrub', async (t) => {
  const app = await testApp(t)
  const { checksums, ledger } = app.app
  const states = () =>
    Object.fromEntries(
      ledger
        .sql<{ id: string; state: string }>("SELECT id, state FROM checksum_file WHERE kind = 'video'")
        .all()
        .map(({ id, state }) => [id, state]),
    )
  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))
  await checksums.rows.forget(['v1'])
  await checksums.rows.add([{ kind: 'video', id: 'v1', part: '' }])
  await checksums.rows.add([{ kind: 'picture', id: 'nobody', part: 'video' }])

  await app.download(aVideo({ id: 'v2', channelId: 'UC1' }))

  assert.deepEqual(states(), { v1: 'due', v2: 'whole' })
  await app.clock.advance(1000)
  await scrub(app)
  assert.deepEqual(states(), { v1: 'whole', v2: 'whole' })
  const { files, bytes, read, states: counts } = await summary(app)
  assert.deepEqual(
    [files, counts.due, read],
    [6, 0, bytes],
    'of each three files; a picture that nobody needs is forgotten',
  )
})

test('a file that is not downloaded again within two days raises an alarm', async (t) => {
  const app = await testApp(t)
  const { checksums } = app.app
  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))
  const row = checksums.rows.get({ kind: 'video', id: 'v1', part: '' })!
  await checksums.rows.set(row, { state: 'rotten', found_at: 1, mending_at: epochSeconds(app.clock) })
  assert.equal(checksums.alarms(), 0)
  await app.clock.advance(49 * 3_600_000)
  assert.equal(checksums.alarms(), 1)

  app.clock.set(app.clock.now() - 4000 * 86_400_000)
  assert.equal(checksums.alarms(), 1, 'the clock was ahead')
})

test('a record without a film, and an offline disk, cause no other file to be read more often', async (t) => {
  const app = await testApp(t)
  const { ledger, media } = app.app
  for (const id of ['v1', 'v2', 'v3', 'v4']) await app.download(aVideo({ id, channelId: 'UC1' }))
  await app.settled()
  await admin(app).post('/api/config/', { checksums: { period: 4, from: 0, until: 0 } })
  await app.given(aVideo({ id: 'gone', channelId: 'UC1', active: false }))
  const readAt = () =>
    ledger.sql<{ read_at: number }>('SELECT read_at FROM checksum_file ORDER BY kind, id, part').all()
  const readsOf = async (hours: number) => {
    let reads = 0
    for (let hour = 0; hour < hours; hour++) {
      const before = readAt()
      await app.clock.advance(3_600_000)
      await app.settled()
      reads += readAt().filter(({ read_at: at }, index) => at !== before[index]?.read_at).length
    }
    return reads
  }
  await readsOf(1) // the new record is found

  const reads = await readsOf(23)

  assert.ok(reads <= 12, `12 files in 4 days: ${reads}`)
  t.mock.method(media, 'absence', async () => 'its disk is away')
  await readsOf(96)
  const away = await readsOf(24)
  assert.ok(away <= 4, `4 pictures in 4 days: ${away}`)
  const { states, read, bytes } = await summary(app)
  assert.equal(states.whole, 12)
  assert.ok(read < bytes, 'what was passed over was not read')
})
