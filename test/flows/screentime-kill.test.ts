/** Kills the server while a child plays: the time is counted after the next start, and an answer to an ask holds. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { leftBehind } from '../support/left-behind.ts'
import { type Server, startServer, until } from '../support/server.ts'
import { aChannel, aVideo, PASSWORD } from '../support/testing.ts'
import '../support/long.ts'

const ACCOUNT = { AV_USERNAME: 'admin', AV_PASSWORD: PASSWORD }
/** Ten minutes of film, at one kilobyte per second. */
const SIZE = 600_000

test('the time of the day survives kills, while films are sent and between them', { timeout: 200_000 }, async (t) => {
  let token = ''
  const folder = await leftBehind(t, async (app) => {
    await app.given(aChannel(), aVideo({ id: 'one', player: { duration: 600 } }))
    await app.as('admin').post('/api/user/', { username: 'mia', password: PASSWORD, view: { channel: ['UC1'] } })
    await app.as('admin').post('/api/screentime/3/', { minutes: 8 })
    token = await app.app.accounts.token(3)
  })
  await mkdir(join(folder, 'media/UC1'), { recursive: true })
  await writeFile(join(folder, 'media/UC1/one.mp4'), Buffer.alloc(SIZE))
  const child = { Authorization: `Token ${token}` }
  const left = async (server: Server): Promise<number> =>
    (await server.api('GET', '/api/screentime/own/', undefined, child)).body.left

  let server = await startServer(t, folder, ACCOUNT)
  for (let part = 0; part < 3; part++) {
    const range = `bytes=${part * 200_000}-${part * 200_000 + 199_999}`
    const reply = await server.api('GET', '/media/UC1/one.mp4', undefined, { ...child, range })
    assert.equal(reply.status, 206)
    await server.end('SIGKILL')
    server = await startServer(t, folder, ACCOUNT)
  }
  // A player may still report within a minute of the first film.
  await until(
    'it is over',
    () => left(server),
    (seconds) => seconds === 0,
    90_000,
  )
  assert.equal((await server.api('GET', '/media/UC1/one.mp4', undefined, child)).status, 403)
  await server.end('SIGKILL')
  server = await startServer(t, folder, ACCOUNT)
  assert.equal(await left(server), 0)
  assert.equal((await server.api('GET', '/media/UC1/one.mp4', undefined, child)).status, 403)
})
