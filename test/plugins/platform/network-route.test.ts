/**
 * The route of requests to the platform, their credentials, and the yt-dlp options that are refused: the real yt-dlp on
 * the loopback platform.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { aChannel, aDegraded, aVideo, testApp } from 'archivolt/testing'
import { NoFeed } from '../../../plugins/platform/feed.ts'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { testClock } from '../../support/clock.ts'
import { listening } from '../../support/listening.ts'
import { givenPlatform, SIGNED_IN } from './given.ts'
import '../../support/long.ts'

const asker = 'test'
const failsAs = (failure: string) => (error: unknown) => (error as { failure?: string }).failure === failure

const aWhile = () => new Promise((resolve) => setTimeout(resolve, 10))

/** Like an HTTP proxy, it is requested by absolute URLs. */
async function startHttpProxy(t: TestContext): Promise<{ at: string; asked: string[]; authorizations: Set<string> }> {
  const asked: string[] = []
  const authorizations = new Set<string>()
  const server = createServer((incoming, reply) => {
    asked.push(incoming.url!)
    authorizations.add(String(incoming.headers['proxy-authorization']))
    const onward = request(incoming.url!, { method: incoming.method, headers: incoming.headers }, (answer) => {
      reply.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(reply)
    })
    onward.on('error', () => reply.destroy())
    incoming.pipe(onward)
  })
  return { at: await listening(t, server), asked, authorizations }
}

async function bodyOf(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of incoming) text += chunk
  return JSON.parse(text)
}

/** Answers like bgutil's server. */
async function startTokenProvider(t: TestContext) {
  const asked: Array<Record<string, unknown>> = []
  const given = { isThere: true }
  const server = createServer(async (incoming, reply) => {
    if (incoming.url === '/ping') return reply.end('{}')
    asked.push(await bodyOf(incoming))
    reply.writeHead(given.isThere ? 200 : 500, { 'content-type': 'application/json' })
    reply.end(JSON.stringify(given.isThere ? { poToken: 'c29tZSB0b2tlbg==' } : { error: 'no attestation' }))
  })
  return { at: await listening(t, server), asked, given }
}

describe('the route', () => {
  test('metadata, films and pictures use the proxy, with its password, which is never shown', async (t) => {
    const proxy = await startHttpProxy(t)
    const { service, folder, platform } = await givenPlatform(t, {
      preferences: { proxy: `http://me:secret@${proxy.at}` },
    })

    const metadata = await service.video(VIDEO.fog, { asker })
    await service.download(VIDEO.fog, { folder, formatSort: 'res:360' }, { asker })
    const picture = join(folder, 'picture')
    await service.fetchPicture(metadata.thumbnails[0]!.url, picture, AbortSignal.timeout(60_000))

    assert.ok((await readFile(picture)).length > 0)
    for (const kind of [/\/api\/video\//, /\/media\//, /\/vi/]) assert.ok(proxy.asked.some((url) => kind.test(url)))
    assert.equal(proxy.asked.length, platform.requests.length, 'and nothing goes past it')
    assert.deepEqual([...proxy.authorizations], [`Basic ${Buffer.from('me:secret').toString('base64')}`])
  })

  test('a proxy that is down is a network failure that does not reveal its password', async (t) => {
    const { service } = await givenPlatform(t, { preferences: { proxy: 'http://me:secret@127.0.0.1:9' } })

    await assert.rejects(service.video(VIDEO.fog, { asker }), (error: Error) => {
      assert.doesNotMatch(error.message, /secret/)
      return failsAs('network')(error)
    })
  })

  test('requests to the platform come from the configured address and use the configured protocol', async (t) => {
    const { service, platform } = await givenPlatform(t, { preferences: { source_address: '127.0.0.77' } })
    await service.video(VIDEO.fog, { asker })
    assert.deepEqual([...new Set(platform.requests.map(({ address }) => address))], ['127.0.0.77'])

    const other = await givenPlatform(t, { preferences: { ip_version: '6' } })
    await assert.rejects(other.service.video(VIDEO.fog, { asker }), failsAs('network'))
    assert.equal(other.platform.requests.length, 0, 'it has no such address')
  })
})

test('through a route that only yt-dlp supports, a feed is read, and a missing or refused one is distinguished from a failure', async (t) => {
  const { service, platform } = await givenPlatform(t, { preferences: { ip_version: '4' } })
  const read = () => service.feed(CHANNEL.harbour, {}, AbortSignal.timeout(60_000))

  const feed = await read()
  assert.ok(typeof feed === 'object' && feed.ids.includes(VIDEO.fog))
  for (const status of [403, 404, 429]) {
    platform.faults.set('global', { name: 'feed_status', status })
    await assert.rejects(read(), (error: Error) => error instanceof NoFeed && error.status === status, `${status}`)
  }
})

describe('tokens', () => {
  test('the provider is asked for a token, and all formats are available', async (t) => {
    const tokens = await startTokenProvider(t)
    const { service, folder, platform } = await givenPlatform(t, {
      preferences: { token_provider: `http://${tokens.at}` },
      clock: testClock(Date.now()),
    })
    platform.faults.set(VIDEO.fog, 'token')

    const got = await service.download(VIDEO.fog, { folder }, { asker })

    assert.equal(got.metadata.id, VIDEO.fog)
    const films = platform.requests.filter(({ path }) => path.includes('/media/'))
    assert.ok(films.length > 0 && !films.some(({ path }) => path.endsWith('/18.mp4')), 'better than what all get')
    assert.equal(tokens.asked[0]!.content_binding, VIDEO.fog)
    const { last_token, ...health } = service.tokens.health()
    assert.deepEqual(health, { state: 'works', address: `http://${tokens.at}`, message: '' })
    assert.ok(last_token > 0)
  })

  test('a provider that fails is reported, and the video is downloaded in the formats that need no token', async (t) => {
    const tokens = await startTokenProvider(t)
    tokens.given.isThere = false
    const { service, folder, platform } = await givenPlatform(t, {
      preferences: { token_provider: `http://${tokens.at}` },
    })
    platform.faults.set(VIDEO.fog, 'token')

    await service.download(VIDEO.fog, { folder }, { asker })

    assert.deepEqual(
      platform.requests.filter(({ path }) => path.includes('/media/')).map(({ path }) => path.split('/').at(-1)),
      ['18.mp4'],
    )
    await service.tokens.ping()
    const { state, message, last_token } = service.tokens.health()
    assert.deepEqual([state, last_token], ['failed', 0], 'though it answers')
    assert.match(message, /Internal Server Error/)
  })
})

describe('the cookie', () => {
  async function signedIn(t: TestContext, cookieUse: 'always' | 'needed') {
    const given = await givenPlatform(t, { preferences: { cookie_use: cookieUse, videos_per_hour: 300 } })
    const jar = join(given.dataDir, 'cookie.txt')
    await writeFile(jar, SIGNED_IN)
    given.service.useCookie(jar)
    const withCookie = () => given.platform.requests.map(({ cookies }) => cookies.includes('SID'))
    return { ...given, withCookie }
  }

  test('always: each request has it, and counts against its budget', async (t) => {
    const { service, withCookie } = await signedIn(t, 'always')

    await service.video(VIDEO.fog, { asker })

    assert.deepEqual(withCookie(), [true])
    const { address, cookie } = service.budgets()
    assert.deepEqual([address.used, cookie?.used], [1, 1])
  })

  test('when needed: only what is refused without an account is requested again with it', async (t) => {
    const { service, platform, folder, withCookie } = await signedIn(t, 'needed')
    platform.faults.set(VIDEO.nets, 'cookie_required')

    await service.video(VIDEO.fog, { asker })
    const nets = await service.video(VIDEO.nets, { asker })

    assert.equal(nets.id, VIDEO.nets)
    assert.deepEqual(withCookie(), [false, false, true])
    platform.requests.length = 0
    await service.download(VIDEO.nets, { folder, formatSort: 'res:360' }, { asker })
    assert.deepEqual(
      platform.requests.filter(({ path }) => path.startsWith('/api/')).map(({ cookies }) => cookies.includes('SID')),
      [false, true],
    )
  })

  test('when needed: what no account may have fails as without it', async (t) => {
    const { service, platform, withCookie } = await signedIn(t, 'needed')
    platform.faults.set(VIDEO.fog, 'removed')
    platform.faults.set(VIDEO.nets, 'members_only')

    await assert.rejects(service.video(VIDEO.fog, { asker }), failsAs('gone'))
    assert.deepEqual(withCookie(), [false])
    const { unavailable } = await service.video(VIDEO.nets, { asker })

    assert.equal(unavailable?.failure, 'members_only')
    assert.deepEqual(withCookie(), [false, false, true])
  })
})

describe('options that yt-dlp rejects are refused when they are set', () => {
  test('with its message, and valid ones are set', async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings: settings as never })
    const set = (change: object) => app.as('admin').post('/api/config/', change)
    const refusals: Array<[change: { [section: string]: Record<string, unknown> }, words: RegExp]> = [
      [{ downloads: { format: '-' } }, /nobody can answer/],
      [{ downloads: { format: 'bv*+(ba' } }, /Invalid format specification/],
      [{ platform: { player_clients: 'default,webb' } }, /does not know the client “webb”/],
      [{ platform: { proxy: 'http://host:99999' } }, /Port out of range/],
      [{ platform: { proxy: 'ftp://host:99' } }, /must be a string such as socks5h/],
      [{ platform: { source_address: '203.0.113.9' } }, /no address 203\.0\.113\.9/],
      [{ platform: { source_address: '1.2.3' } }, /IP address/],
      [{ platform: { source_address: '127.0.0.1', ip_version: '6' } }, /is not an IPv6 address/],
      [{ platform: { token_provider: 'http://host:99999' } }, /Port out of range/],
    ]

    for (const [change, words] of refusals) {
      const { status, body } = await set(change)
      assert.equal(status, 400, JSON.stringify(change))
      const [[section, values]] = Object.entries(change) as [[string, Record<string, unknown>]]
      assert.match(body.error ?? JSON.stringify(body), words)
      assert.ok(Object.keys(values).some((key) => `${section}.${key}` in body.fields))
    }
    const taken = {
      downloads: { format: 'bv*+ba/b', format_sort: 'res:1080,vcodec:h264' },
      platform: {
        player_clients: 'default,web_safari',
        proxy: 'socks5h://me:secret@host:1080',
        source_address: '127.0.0.1',
        token_provider: 'http://provider:4416',
      },
    }
    const { status, body } = await set(taken)
    assert.deepEqual([status, body.platform.proxy], [200, 'socks5h://***@host:1080'], 'the password is never shown')
    assert.equal((await set({ platform: { proxy: 'socks5h://***@host:1080', ip_version: '4' } })).status, 200)
    assert.equal(app.app.preferences.section('platform').proxy, taken.platform.proxy, 'what was shown changes nothing')
  })

  test('so is the format of a channel', async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings: settings as never })
    await app.given(aChannel({ id: 'UC1' }))
    const set = (format: string | null) =>
      app.as('admin').post('/api/channel/UC1/', { channel_overwrites: { download_format: format } })

    const { status, body } = await set('bv*+(ba')
    assert.equal(status, 400)
    assert.match(body.fields['channel_overwrites.download_format'], /Invalid format specification/)
    assert.equal((await app.doc('channel', 'UC1')).channel_overwrites.download_format, undefined)
    for (const format of ['bv*+ba/b', null]) assert.equal((await set(format)).status, 200)
  })

  test('other extractor options make degraded films due again', async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings: settings as never })
    const later = Math.floor(app.clock.now() / 1000) + 86_400
    await app.given(
      aChannel({ id: 'UC1' }),
      aVideo({ id: 'poor', channelId: 'UC1', degraded: { ...aDegraded({ reasons: ['token'] }), next_try: later } }),
    )
    await app.app.platform.command('pause')
    const nextTry = async () => (await app.doc('video', 'poor')).degraded!.next_try

    assert.equal((await app.as('admin').post('/api/config/', { platform: { ip_version: '4' } })).status, 200)
    while ((await nextTry()) === later) await aWhile()
  })

  test('an option set by an earlier version that prompts at the terminal fails at once, and blocks nothing', async (t) => {
    const { service, folder } = await givenPlatform(t)

    await assert.rejects(service.download(VIDEO.fog, { folder, format: '-' }, { asker }), failsAs('unknown'))

    assert.equal(
      (await service.download(VIDEO.fog, { folder, formatSort: 'res:360' }, { asker })).metadata.id,
      VIDEO.fog,
    )
  })
})

describe('the pace', () => {
  test('requests within an operation, and subtitles, wait by the clock of the server', async (t) => {
    const slept: number[] = []
    const clock = { ...testClock(Date.now()), sleep: async (ms: number) => void slept.push(ms) }
    const preferences = { request_pause: 1, subtitle_pause: 5 }
    const { service, folder } = await givenPlatform(t, { clock, preferences })
    const wanted = { folder, formatSort: 'res:360', subtitleLanguages: 'en,de' }

    const { subtitles } = await service.download(VIDEO.breakwater, wanted, { asker })
    const subtitlePauses = slept.splice(0)
    await service.comments(VIDEO.breakwater, { max: '10', sort: 'top' }, { asker })

    assert.deepEqual([subtitles.length, subtitlePauses.length], [2, 2])
    assert.ok(subtitlePauses.every((ms) => ms >= 5000 && ms <= 10_000))
    assert.ok(slept.length === 1 && slept[0]! >= 1000 && slept[0]! <= 2000, 'before the page of comments')
  })

  test('a refusal halves the budget; refused probes do not change it', async (t) => {
    const clock = testClock()
    const { service, platform } = await givenPlatform(t, { clock, preferences: { videos_per_hour: 300 } })
    platform.faults.set('global', { name: 'api_status', status: 429, times: 2 })
    const asked = service.video(VIDEO.fog, { asker })
    while (service.state().state !== 'blocked') await aWhile()
    assert.deepEqual(service.budgets().address, { used: 1, limit: 150, per_hour: 300, learned: true })

    await clock.advance(60_000)
    while (platform.requests.length < 2) await aWhile()
    while (service.state().next_attempt * 1000 <= clock.now()) await aWhile()

    assert.equal(service.budgets().address.limit, 150)
    await clock.advance(5 * 60_000)
    await asked
    assert.equal(service.state().state, 'open')
  })

  test('one refusal after a dozen videos leaves enough to continue if no limit is configured', async (t) => {
    const clock = testClock()
    const { service, platform } = await givenPlatform(t, { clock })
    for (let asked = 0; asked < 12; asked++) await service.video(VIDEO.fog, { asker })
    platform.faults.set('global', 'bot_check')
    const next = service.video(VIDEO.nets, { asker })
    while (service.state().state !== 'blocked') await aWhile()
    platform.faults.clear('global')

    await service.command('retry')
    const after = service.video(VIDEO.pilots, { asker })

    assert.deepEqual([(await next).id, (await after).id], [VIDEO.nets, VIDEO.pilots])
  })

  test('requests that wait for the budget continue at once if the limit is raised, or an admin retries', async (t) => {
    const { settings } = await startTestPlatform(t)
    const app = await testApp(t, { settings: settings as never })
    const admin = app.as('admin')
    const state = async () => (await admin.get('/api/platform/')).body
    const halted = async () => {
      while ((await state()).state !== 'halted') await aWhile()
    }
    await admin.post('/api/config/', { platform: { videos_per_hour: 10 } })
    for (let asked = 0; asked < 10; asked++) await app.app.platform.video(VIDEO.fog, { asker })

    const tried = app.app.platform.video(VIDEO.nets, { asker })
    await halted()
    assert.match((await state()).reason, /^The limit of 10 videos per hour has been reached/)
    await admin.post('/api/platform/', { command: 'retry' })
    assert.equal((await tried).id, VIDEO.nets)

    const raised = app.app.platform.video(VIDEO.pilots, { asker })
    await halted()
    await admin.post('/api/config/', { platform: { videos_per_hour: 20 } })
    assert.equal((await raised).id, VIDEO.pilots)
    assert.equal((await state()).state, 'open')
  })
})
