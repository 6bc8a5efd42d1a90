/** Our recipes for proxies, each with the real program: https, a base path, events, ranges, large uploads. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { missingHere } from '../support/required.ts'
import { freePort, isInstalled, startProxy } from '../support/reverse-proxy.ts'
import { PASSWORD, startServer, USERNAME, until } from '../support/server.ts'

const LARGE_BYTES = 40 << 20

interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: Buffer | string
}

/** The certificate is made by the test. */
const ask = (url: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, rejectUnauthorized: false, agent: false }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })

const SEND_FILE_HEADERS = ['x-accel-redirect', 'x-sendfile']

const CASES = [
  { program: 'nginx', sends: 'what Archivolt sends', more: {} },
  { program: 'nginx', sends: 'files that it sends itself', more: { AV_SEND_FILE_HEADER: 'X-Accel-Redirect' } },
  { program: 'lighttpd', sends: 'what Archivolt sends', more: {} },
  { program: 'lighttpd', sends: 'files that it sends itself', more: { AV_SEND_FILE_HEADER: 'X-Sendfile' } },
  { program: 'caddy', sends: 'what Archivolt sends', more: {} },
] as const

for (const { program, sends, more } of CASES) {
  const why = (await isInstalled(program)) ? false : missingHere(program, `${program} is not installed`)

  describe(`the recipe for ${program}, with ${sends}`, { skip: why }, () => {
    test('films, events and backups pass unchanged, and the page signs in below its base path', async (t) => {
      const port = await freePort()
      const dataDir = await temporaryFolder(t)
      await startServer(t, dataDir, {
        ...{ AV_PORT: String(port), AV_BASE_PATH: '/archive/', AV_TRUSTED_PROXIES: '127.0.0.1' },
        ...{ AV_LOG_LEVEL: 'info', ...more },
      })
      const base = await startProxy(t, program, port)
      const { origin } = new URL(base)

      const page = await ask(base)
      assert.equal(page.statusCode, 200)
      assert.match(await text(page), /\/archive\//)

      const login = await ask(`${base}login/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ username: USERNAME, password: PASSWORD }),
      })
      assert.equal(login.statusCode, 204, await text(login))
      const cookies = login.headers['set-cookie']!
      assert.ok(
        cookies.every((cookie) => /; Path=\/archive\/(;|$)/i.test(cookie) && /; Secure/i.test(cookie)),
        cookies.join(),
      )
      const cookie = cookies.map((one) => one.split(';')[0]).join('; ')
      const csrf = /csrftoken=([^;]+)/.exec(cookie)![1]!
      const own = { cookie, 'x-csrftoken': csrf, origin, 'content-type': 'application/json' }

      const events = await ask(`${base}api/events/`, { headers: { cookie } })
      let told = ''
      events.on('data', (chunk: Buffer) => void (told += chunk.toString()))
      const backup = await ask(`${base}api/backup/`, { method: 'POST', headers: own, body: '{}' })
      const { task_id } = JSON.parse(await text(backup)) as { task_id: string }
      await until(
        'the event of the job',
        async () => told,
        (now) => now.includes(task_id),
      )
      events.destroy()
      const list = async () =>
        JSON.parse(await text(await ask(`${base}api/backup/`, { headers: { cookie } }))) as Array<{ filename: string }>
      const [made] = await until('the backup', list, (all) => all.length > 0)

      const part = await ask(`${base}api/backup/${made!.filename}/download/`, {
        headers: { cookie, range: 'bytes=0-3' },
      })
      assert.deepEqual([part.statusCode, await text(part)], [206, 'PK\u0003\u0004'])
      assert.match(part.headers['content-disposition']!, /^attachment/)
      for (const name of SEND_FILE_HEADERS) assert.equal(part.headers[name], undefined)
      const direct = await fetch(`http://127.0.0.1:${port}/archive/api/backup/${made!.filename}/download/`, {
        headers: { cookie },
      })
      const named = SEND_FILE_HEADERS.filter((name) => direct.headers.has(name))
      assert.deepEqual(
        named,
        Object.values(more).map((name) => name.toLowerCase()),
        'as the proxy was told',
      )
      assert.doesNotMatch(await text(await ask(new URL('/_archivolt/etc/passwd', base).href)), /root:/)

      const upload = await ask(`${base}api/backup/av_backup-20200101-manual.zip/`, {
        method: 'PUT',
        headers: { ...own, 'content-type': 'application/zip' },
        body: Buffer.alloc(LARGE_BYTES),
      })
      assert.equal(upload.statusCode, 422, 'the whole file has come, and is no backup')
      assert.match(await text(upload), /This backup cannot be read/)
    })
  })
}
