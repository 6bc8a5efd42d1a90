/** Daily screen time of children: what counts as playing, what happens at the limit, and how a parent grants more. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
// Days pass, and the check of thumbnails reads the films.
import '../../support/ffmpeg.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const CHILD = 3
const PIN = '4711'
/** An hour of film, at one kilobyte per second. */
const SIZE = 3600 * 1000
const NOON = Date.parse('2026-03-02T12:00:00Z')

async function household(t: TestContext, minutes: number | null = 10) {
  const app = await testApp(t)
  app.clock.set(NOON)
  await app.given(
    aChannel({ id: 'UC1' }),
    aChannel({ id: 'UC2' }),
    ...['one', 'two'].map((id) => aVideo({ id, channelId: 'UC1', player: { duration: 3600 } })),
  )
  const folder = join(app.dataDir, 'media/UC1')
  await mkdir(folder, { recursive: true })
  for (const id of ['one', 'two']) await writeFile(join(folder, `${id}.mp4`), Buffer.alloc(SIZE))
  const [admin, child] = [app.as('admin'), app.as('child')]
  await admin.post('/api/user/', { username: 'child', password: PASSWORD, view: { channel: ['UC1'] } })
  if (minutes !== null) assert.equal((await admin.post(`/api/screentime/${CHILD}/`, { minutes })).status, 200)
  const load = (id: string, from: number, seconds: number, method: 'get' = 'get') =>
    child[method](`/media/UC1/${id}.mp4`, { range: `bytes=${from * 1000}-${(from + seconds) * 1000 - 1}` })
  const report = (id: string, position: number, ago?: number) =>
    child.post(`/api/video/${id}/progress/`, { position, ...(ago !== undefined && { ago }) })
  const left = async () => (await child.get('/api/screentime/own/')).body.left
  return { app, admin, child, load, report, left }
}

/** Plays as our page does: loads ahead, and reports every ten seconds. */
async function play(house: Awaited<ReturnType<typeof household>>, id: string, from: number, seconds: number) {
  await house.load(id, from, 60)
  for (let at = 10; at <= seconds; at += 10) {
    await house.app.clock.advance(10_000)
    assert.equal((await house.report(id, from + at)).status, 200)
  }
}

test('a player that reports is charged the time between its reports, on all devices together', async (t) => {
  const house = await household(t)
  assert.deepEqual((await house.child.get('/api/screentime/own/')).body, { minutes: 10, left: 600 })
  await play(house, 'one', 100, 60)
  assert.equal(await house.left(), 540, 'not what it has loaded ahead')
  await play(house, 'one', 3000, 60)
  assert.equal(await house.left(), 480, 'seeking costs nothing')
  await house.app.clock.advance(3_600_000)
  await play(house, 'two', 0, 60)
  assert.equal(await house.left(), 420, 'neither does a pause; another video is more play')
  const { body } = await house.admin.get('/api/screentime/')
  assert.deepEqual(body, [{ user_id: CHILD, minutes: 10, played: 180, left: 420 }])
})

test('a player that does not report is charged for what it receives, and receives no more at the limit', async (t) => {
  const house = await household(t)
  assert.equal((await house.load('one', 0, 300)).bytes.length, 300_000)
  assert.equal(await house.left(), 600, 'it may still report')
  await house.app.clock.advance(61_000)
  assert.equal(await house.left(), 300)
  await house.report('one', 200, 600)
  assert.equal(await house.left(), 300, 'what was played offline does not give it back')
  await assert.rejects(house.load('one', 300, 400), 'it ends with the time')
  assert.equal(await house.left(), 0)
  for (const path of ['/media/UC1/one.mp4', '/media/UC1/two.mp4']) {
    const over = await house.child.get(path)
    assert.deepEqual([over.status, over.body.error], [403, 'The time of this account for today is used up'])
  }
  assert.equal((await house.child.get('/api/video/one/')).status, 200, 'all but films')
  assert.equal((await house.app.as('user').get('/media/UC1/one.mp4')).status, 200, 'others play')
})

test('a film that is being sent ends at the limit', async (t) => {
  const house = await household(t, 1)
  const whole = await house.child.get('/media/UC1/one.mp4').catch((error: Error) => error)
  assert.ok(whole instanceof Error, 'the connection ends')
  await house.app.app.ledger.write(() => undefined)
  const { sent } = house.app.app.ledger.sql<{ sent: number }>('SELECT sent FROM screentime_played').get()!
  assert.ok(sent > 1800 && sent < 3000, `at most half an hour ahead: ${sent}`)
})

test('reports alone do not make other transfers free', async (t) => {
  const house = await household(t)
  for (let round = 0; round < 5; round++) {
    await house.load('one', 0, 600)
    await house.app.clock.advance(1000)
    await house.report('one', 1)
  }
  await house.app.clock.advance(61_000)
  assert.equal(await house.left(), 0)
})

test('the day is the server’s, and a new one begins at its midnight', async (t) => {
  const house = await household(t)
  await house.load('one', 0, 700)
  await house.app.clock.advance(61_000)
  assert.equal(await house.left(), 0)
  const midnight = new Date(house.app.clock.now()).setHours(24, 0, 0, 0)
  house.app.clock.set(midnight - 1000)
  assert.equal(await house.left(), 0)
  house.app.clock.set(midnight)
  assert.equal(await house.left(), 600)
  assert.equal((await house.load('one', 0, 10)).status, 206)
})

test('an admin’s PIN grants five more minutes on any device; five wrong ones in a row lock it', async (t) => {
  const house = await household(t, 0)
  const { child, admin, left } = house
  const enter = (pin: string) => child.post('/api/screentime/own/', { pin })
  assert.equal((await enter(PIN)).status, 409, 'no admin has one')
  await admin.post('/api/user/1/', { pin: PIN, current_password: PASSWORD })
  await house.app.as('user').post('/api/user/2/', { pin: '1234', current_password: PASSWORD })
  const wrong = await enter('1234')
  assert.deepEqual([wrong.status, wrong.body.fields], [400, { pin: 'is not the PIN of an admin' }])
  assert.equal((await enter('12')).status, 400)
  assert.deepEqual((await enter(PIN)).body, { minutes: 0, left: 300 })
  assert.equal((await house.load('one', 0, 10)).status, 206)
  for (let at = 0; at < 5; at++) {
    await house.app.clock.advance(400_000) // the throttle of sign-ins has expired
    assert.equal((await enter('0000')).status, 400)
  }
  assert.equal((await enter(PIN)).status, 409)
  assert.equal(await left(), 290)
  assert.equal((await admin.post(`/api/screentime/${CHILD}/`, { more: 10 })).body.left, 890)
  await house.app.clock.advance(3_600_000)
  assert.equal((await enter(PIN)).body.left, 1190, 'an admin has let it try again')
})

test('a PIN that cannot be checked does not count as wrong: if no admin has a PIN, and while sign-ins are throttled', async (t) => {
  const { app, child, admin } = await household(t, 0)
  const enter = async (pin: string) => (await child.post('/api/screentime/own/', { pin })).status
  const repeat = async (work: () => Promise<unknown>) => {
    const found = []
    for (let at = 0; at < 5; at++) found.push(await work())
    return new Set(found)
  }
  assert.deepEqual(await repeat(() => enter(PIN)), new Set([409]))
  const second = { username: 'second', password: PASSWORD, is_staff: true }
  const { id } = (await admin.post('/api/user/', second)).body
  await app.as('second').post(`/api/user/${id}/`, { pin: PIN, current_password: PASSWORD })
  await admin.post(`/api/user/${id}/`, { is_active: false })
  assert.deepEqual(await repeat(() => enter(PIN)), new Set([409]), 'one who is not active cannot help')
  await admin.post(`/api/user/${id}/`, { is_active: true })

  const wrong = { pin: '1234', current_password: 'not the password' }
  await repeat(() => child.post(`/api/user/${CHILD}/`, wrong))
  assert.deepEqual(await repeat(() => enter('0000')), new Set([429]))
  await app.clock.advance(1_000_000)
  assert.equal(await enter(PIN), 200)
})

test('of simultaneous PINs, at most five are checked', async (t) => {
  const { app, child, admin } = await household(t, 0)
  await admin.post('/api/user/1/', { pin: PIN, current_password: PASSWORD })
  const wrongPins = () =>
    app.app.ledger.sql<{ wrong_pins: number }>('SELECT wrong_pins FROM screentime_limit').get()!.wrong_pins
  for (let at = 0; at < 3; at++) {
    await child.post('/api/screentime/own/', { pin: '0000' })
    await app.clock.advance(400_000)
  }
  const tried = Array.from({ length: 4 }, () => child.post('/api/screentime/own/', { pin: '0000' }))

  const statuses = (await Promise.all(tried)).map(({ status }) => status)

  assert.deepEqual(statuses.sort(), [400, 400, 409, 409])
  assert.equal(wrongPins(), 5)
})

test('only admins set it, only for accounts with a view; without a limit, nothing is counted', async (t) => {
  const { app, admin, child, load, left, report } = await household(t, null)
  assert.deepEqual((await child.get('/api/screentime/own/')).body, { minutes: null, left: null })
  await load('one', 0, 60)
  await report('one', 30)
  assert.deepEqual(app.app.ledger.sql('SELECT * FROM screentime_played').all(), [])
  assert.equal((await child.post(`/api/screentime/${CHILD}/`, { minutes: 900 })).status, 403)
  assert.equal((await child.get('/api/screentime/')).status, 403)
  assert.equal((await admin.post('/api/screentime/2/', { minutes: 60 })).status, 409)
  assert.equal((await admin.post('/api/screentime/99/', { minutes: 60 })).status, 404)
  assert.equal((await admin.post(`/api/screentime/${CHILD}/`, { more: 5 })).status, 409)
  for (const body of [{}, { minutes: -1 }, { minutes: 1441 }, { more: 0 }])
    assert.equal((await admin.post(`/api/screentime/${CHILD}/`, body)).status, 400)
  await admin.post(`/api/screentime/${CHILD}/`, { minutes: 1 })
  assert.equal(await left(), 60)
  await admin.post(`/api/screentime/${CHILD}/`, { minutes: null })
  assert.equal(await left(), null)
  await admin.post(`/api/screentime/${CHILD}/`, { minutes: 1 })
  await admin.delete(`/api/user/${CHILD}/`)
  assert.deepEqual((await admin.get('/api/screentime/')).body, [])
})

test('the daily limit is restored with the accounts from a record of the archive', async (t) => {
  const { app, admin } = await household(t, 45)
  const [own] = app.app.hook('archive.belongings').filter(({ of }) => of === 'screentime')
  const kept = own!.collect()
  assert.deepEqual(kept, { child: 45 })
  await admin.post(`/api/screentime/${CHILD}/`, { minutes: null })
  await own!.restore({ child: 'x' })
  assert.deepEqual((await admin.get('/api/screentime/')).body, [])
  await admin.post('/api/user/', { username: 'constructor', password: PASSWORD, view: { channel: ['UC1'] } })
  await own!.restore(JSON.parse(JSON.stringify({ ...(kept as object), gone: 5 })))
  assert.equal((await admin.get('/api/screentime/')).body[0].minutes, 45)
})
