/**
 * How the page is served: under every address, compressed, cacheable for good, and without anything from other hosts.
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ADDRESSES } from '../../../plugins/web/addresses.ts'
import { noBrowser, openPage, type Page, type Request } from '../../support/browser.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

interface Raw {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** A request without decompression, which fetch would do. */
const ask = (url: string, headers: Record<string, string> = {}): Promise<Raw> =>
  new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })

test('every address returns the page, for everybody', async (t) => {
  const app = await testApp(t)

  for (const address of ADDRESSES) {
    const { status, headers, text } = await app.as('nobody').get(address.replace(/:\w+/g, 'abc'))
    assert.equal(status, 200, address)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(text, /<script type="module" src="\/assets\/app-\w+\.js">/)
  }
  assert.equal((await app.as('nobody').get('/api/ping/')).status, 401)
})

test('at an unknown address, people get the page, and programs the error of the API', async (t) => {
  const app = await testApp(t)
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  for (const address of ['/nope/', '/nope', '/deep/er/still/', '/channel/a/b/', '/%zz/', `/${'x'.repeat(500)}/`]) {
    const { status, headers, text } = await app.as('nobody').get(address, browser)
    assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'], address)
    assert.match(text, /<script type="module" src="\/assets\/app-\w+\.js">/)
    assert.match(headers.get('content-security-policy')!, /default-src 'none'/)
    assert.equal((await app.as('nobody').get(address)).body.code, 'not_found')
  }
  for (const address of [
    '/api/nope/',
    '/api',
    '/media/UC1/nope.mp4/x',
    '/cache/nope',
    '/assets/nope.js',
    '/icons/nope',
  ]) {
    const { status, body } = await app.as('admin').get(address, browser)
    assert.deepEqual([status, body.code], [404, 'not_found'], address)
  }
  const posted = await app.as('admin').post('/nope/', {}, browser)
  assert.deepEqual([posted.status, posted.body.code], [404, 'not_found'])
  assert.equal((await app.as('admin').get('/api/schema/')).text.includes('/{path}"'), false)
  const named = await app.as('nobody').get('/channel/@mill/', browser)
  assert.equal(named.status, 200)
})

test('the policy allows only our own host, and nothing inline', async (t) => {
  const app = await testApp(t)

  const { headers, text } = await app.as('nobody').get('/')

  const policy = headers.get('content-security-policy')!
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|style=|\son\w+=/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('referrer-policy'), 'same-origin')
})

test('scripts and styles are compressed as the browser accepts, and cacheable for good', async (t) => {
  const app = await testApp(t)
  const { text } = await app.as('nobody').get('/')
  const script = app.url + /assets\/app-\w+\.js/.exec(text)![0]

  const plain = await ask(script)
  const brotli = await ask(script, { 'accept-encoding': 'gzip, deflate, br' })
  const gzip = await ask(script, { 'accept-encoding': 'gzip, br;q=0' })

  assert.deepEqual(
    [plain.headers['content-encoding'], brotli.headers['content-encoding'], gzip.headers['content-encoding']],
    [undefined, 'br', 'gzip'],
  )
  assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes)
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes)
  assert.match(String(brotli.headers['cache-control']), /max-age=31536000, immutable/)
  assert.equal(brotli.headers['vary'], 'Accept-Encoding')
  assert.equal(brotli.headers['content-type'], 'text/javascript; charset=utf-8')
  for (const name of ['../built.json', 'built.json', 'nothing.js', 'constructor', 'toString'])
    assert.equal((await ask(`${app.url}assets/${name}`)).status, 404, name)
})

test('the first load of Home is three files of script and style, and at most 70 kB', async (t) => {
  const app = await testApp(t)
  const { text } = await app.as('nobody').get('/')
  const first = [...text.matchAll(/(?:src|href)="\/(assets\/[\w.-]+)/g)].map(([, path]) => path!)
  assert.ok(first.length >= 2)

  const seen = new Set<string>()
  let bytes = 0
  const weigh = async (path: string): Promise<void> => {
    if (seen.has(path)) return
    seen.add(path)
    bytes += (await ask(app.url + path, { 'accept-encoding': 'br' })).bytes.length
    if (!path.endsWith('.js')) return
    const code = (await ask(app.url + path)).bytes.toString()
    for (const [, name] of code.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) await weigh(`assets/${name}`)
  }
  for (const path of first) await weigh(path)

  assert.ok(seen.size <= 3, [...seen].join())
  assert.ok(bytes <= 70_000, `${bytes} bytes`)
})

test('below a base path, every URL is below it', async (t) => {
  const app = await testApp(t, { settings: { basePath: '/archive/' } })

  const { text } = await app.as('nobody').get('video/abc/')

  for (const [, path] of text.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)) assert.match(path!, /^\/archive\//)
  assert.match(text, /<meta name="archivolt-base" content="\/archive\/">/)
  assert.equal((await ask(new URL(/src="([^"]+)"/.exec(text)![1]!, app.url).href)).status, 200)
})

test('a chosen theme is in the document; other texts in its cookie are not', async (t) => {
  const app = await testApp(t)

  const dark = await app.as('nobody').get('/', { cookie: 'a=1; av_theme=dark' })
  const hostile = await app.as('nobody').get('/', { cookie: 'av_theme="><script>' })

  assert.match(dark.text, /<html lang="en" data-theme="dark">/)
  assert.match(hostile.text, /<html lang="en">/)
})

/**
 * The requests of a page until it is idle. Without pictures, which are loaded lazily as far as they are visible, and
 * without the service worker, which is loaded once the page is idle.
 */
async function countRequests(page: Page, visit: () => Promise<void>): Promise<string[]> {
  const asked: string[] = []
  const open = new Set<string>()
  const ours = '/api/ping/?ours'
  /** Once a request of ours is answered, all earlier ones are known, and their answers were handled. */
  const settled = async () => {
    while (open.size > 0) await page.waitForEvent('requestfinished')
    await page.evaluate(`fetch('${ours}').then((answer) => answer.text())`)
  }
  const name = (request: Request) => new URL(request.url()).pathname + new URL(request.url()).search
  page.on('request', (request) => {
    if (request.url().startsWith('data:') || name(request).startsWith('/cache/') || name(request) === ours) return
    asked.push(name(request))
    if (name(request) !== '/api/events/') open.add(name(request))
  })
  page.on('requestfinished', (request) => void open.delete(name(request)))
  await page.clock.install()
  await visit()
  // Some requests are sent later, others once earlier ones were answered.
  for (let before = 0; asked.length > before; ) {
    before = asked.length
    await settled()
    await page.clock.runFor(20_000)
    await settled()
  }
  return asked
}

/** The manifest, which browsers with a window request as well. */
const MANIFEST = 1
const NEW_YEAR = Date.parse('2024-01-01')
const WEEK_MS = 7 * 86_400_000

test('the first load of Home takes at most twelve requests, for each role, in a short archive and a long one', {
  skip: noBrowser,
}, async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1', channel_name: 'Harbour' }))
  for (const [from, to] of [
    [0, 3],
    [3, 120],
  ] as const) {
    const films = Array.from({ length: to - from }, (_, at) => from + at)
    await app.given(
      ...films.map((at) =>
        aVideo({
          id: `v${at}`,
          channelId: 'UC1',
          published: new Date(NEW_YEAR - at * WEEK_MS).toISOString().slice(0, 10),
        }),
      ),
    )
    for (const username of ['admin', 'user']) {
      const { page, go } = await openPage(t, app.url, { as: { username, password: PASSWORD } })

      const asked = await countRequests(page, async () => {
        await go('/')
        await page.getByRole('list', { name: 'All videos' }).locator('.card-title').first().waitFor()
        if (to > 100) await page.getByRole('slider', { name: 'Month' }).waitFor()
      })

      const all = asked.join('\n')
      assert.match(all, /^\/api\/session\/$/m)
      assert.match(all, /^\/api\/events\/$/m)
      if (username === 'admin') assert.match(all, /^\/api\/platform\/$/m)
      assert.ok(asked.length + MANIFEST <= 12, `${asked.length}:\n${all}`)
    }
  }
})

test("links to the reference's page lead to the corresponding view here", async (t) => {
  const app = await testApp(t, { settings: { basePath: '/archive/' } })

  for (const [address, to] of [
    ['/?videoId=abc', '/archive/video/abc/'],
    ['/about/', '/archive/settings/'],
    ['/channel/', '/archive/channels/'],
    ['/channel/UC1/about/', '/archive/channel/UC1/'],
    ['/channel/UC1/streams', '/archive/channel/UC1/'],
  ]) {
    const { status, headers } = await ask(`${app.url}${address}`)
    assert.deepEqual([status, headers['location']], [302, to])
  }
  assert.notEqual((await ask(`${app.url}/`)).status, 302)
})
