/** Searching over HTTP (contract 5.7, 5.8, 7). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aChannel, aFragment, aPlaylist, aVideo, type Given, type TestApp, testApp } from 'archivolt/testing'

const find = async (app: TestApp, query: string) => {
  const reply = await app.as('user').get(`/api/search/?query=${encodeURIComponent(query)}`)
  assert.equal(reply.status, 200, query)
  return reply.body
}

const idsOf = ({ results }: any): string[] => [
  ...results.video_results.map((hit: any) => hit.platform_id),
  ...results.channel_results.map((hit: any) => hit.channel_id),
  ...results.playlist_results.map((hit: any) => hit.playlist_id),
  ...results.fulltext_results.map((hit: any) => hit.subtitle_fragment_id),
]

/** @param id  begins with its video's id */
function said({
  id,
  line,
  lang = 'en',
  source = 'user',
  channelId = 'mill',
  downloaded = 1_768_000_000,
  at = 1,
}: {
  id: string
  at?: number
  line: string
  lang?: string
  source?: string
  channelId?: string
  downloaded?: number
}): Given {
  return aFragment({
    id,
    platform_id: id.split('-')[0]!,
    subtitle_line: line,
    subtitle_index: at,
    subtitle_start: '00:00:01.000',
    subtitle_end: '00:00:09.500',
    subtitle_lang: lang,
    subtitle_source: source,
    date_downloaded: downloaded,
    channel_id: channelId,
  })
}

async function anArchive(t: TestContext): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(
    aChannel({
      id: 'mill',
      channel_name: 'Old Mill Bakery',
      channel_subscribed: true,
      channel_description: 'slow food',
      channel_tags: ['recipes'],
    }),
    aChannel({ id: 'lab', channel_name: 'Das Äußere Labor ÜBER Linux' }),
    aChannel({ id: 'gone', channel_name: 'Vanished Guitar Lessons', channel_active: false }),
    aVideo({
      id: 'bread',
      channelId: 'mill',
      title: 'Sourdough bread for beginners',
      tags: ['flour'],
      category: ['Education'],
      date_downloaded: 1003,
    }),
    aVideo({ id: 'starter', channelId: 'mill', title: 'Sourdough starter from scratch', date_downloaded: 1002 }),
    aVideo({ id: 'proof', channelId: 'mill', title: 'Cold proof: 12:30 to sunrise', date_downloaded: 1001 }),
    aVideo({ id: 'kernel', channelId: 'lab', title: 'Linux kernel tutorial part 1', date_downloaded: 1000 }),
    aVideo({
      id: 'chords',
      channelId: 'gone',
      title: 'Guitar chords for the beginner',
      active: false,
      date_downloaded: 999,
    }),
    aPlaylist({
      id: 'basics',
      playlist_name: 'Bread basics',
      playlist_description: 'from flour to loaf',
      playlist_subscribed: true,
      entries: ['bread'],
    }),
    aPlaylist({ id: 'mine', playlist_name: 'My evening list', playlist_type: 'custom', playlist_active: false }),
  )
  return app
}

const rows: Array<[string, string[]]> = [
  ['sourdough bread', ['bread']],
  ['bread sourdough', ['bread']],
  ['SOURDOUGH', ['bread', 'starter']],
  ['sour', ['bread', 'starter']],
  ['kernels', ['kernel']],
  ['uber', ['lab']],
  ['aussere', ['lab']],
  ['the', ['chords']],
  ['12:30', ['proof']],
  ['linux', ['kernel', 'lab']],
  ['bread', ['bread', 'basics']],
  ['sourdogh bread', ['bread']],
  ['sourdogh bread fuzzy:no', []],
  ['sourdgh', ['bread', 'starter']],
  ['nothing like it', []],
  ['video:education', ['bread']],
  ['video:sourdough education', ['bread']],
  ['video:bread flour', ['bread']],
  ['video:sourdough channel:mill', ['bread', 'starter']],
  ['video:sourdough channel:old mill active:yes', ['bread', 'starter']],
  ['video:sourdough channel:labor', []],
  ['video: channel:mil', ['bread', 'starter', 'proof']],
  ['video: channel:nobody', []],
  ['video: active:no', ['chords']],
  ['video:', ['bread', 'starter', 'proof', 'kernel', 'chords']],
  ['channel:bakery subscribed:yes', ['mill']],
  ['channel:recipes', ['mill']],
  ['channel:mill recipes', ['mill']],
  ['channel:slow food', ['mill']],
  ['channel:guitar active:no', ['gone']],
  ['channel: subscribed:no', ['gone', 'lab']],
  ['playlist:flour', ['basics']],
  ['playlist:evening', ['mine']],
  ['playlist: subscribed:yes', ['basics']],
  ['playlist: subscribed:yes active:no', []],
  ['playlist: active:no', ['mine']],
]

test('each kind of query finds its hits', async (t) => {
  const app = await anArchive(t)
  for (const [query, expected] of rows) {
    const found = idsOf(await find(app, query))
    const isOrdered = query === 'video:' || query === 'video: channel:mil'
    assert.deepEqual(isOrdered ? found : found.sort(), isOrdered ? expected : [...expected].sort(), query)
  }
})

test('all groups are present with full records, scores, and the type of the query', async (t) => {
  const app = await anArchive(t)
  await app.as('user').post('/api/video/bread/progress/', { position: 50 })

  const { results, queryType } = await find(app, 'bread')

  assert.equal(queryType, 'simple')
  assert.deepEqual(Object.keys(results), ['video_results', 'channel_results', 'playlist_results', 'fulltext_results'])
  const [video] = results.video_results
  assert.deepEqual(
    [video._index, video.youtube_id, video.channel.channel_name, video.player.position],
    ['av_video', 'bread', 'Old Mill Bakery', 50],
  )
  assert.ok(video._score > 0 && Math.round(video._score * 100) / 100 === video._score)
  const [playlist] = results.playlist_results
  assert.deepEqual([playlist._index, playlist.playlist_entries[0].youtube_id], ['av_playlist', 'bread'])
})

test('exact hits come before misspelt ones', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ channel_name: 'Brown' }))
  const titles = ['bread', 'broad', 'dread', 'bread crumbs']
  await app.given(...titles.map((title, number) => aVideo({ id: `v${number}`, title, date_downloaded: 2000 + number })))

  const found = idsOf(await find(app, 'video:bread'))

  assert.deepEqual(found.slice(0, 2).sort(), ['v0', 'v3'])
  assert.deepEqual(found.slice(2).sort(), ['v1', 'v2'])
})

test('thirty hits are shown in total: six channels, six playlists, the rest videos', async (t) => {
  const app = await testApp(t)
  const many = Array.from({ length: 40 }, (_, number) => number)
  await app.given(...many.map((number) => aChannel({ id: `c${number}`, channel_name: `bread ${number}` })))
  await app.given(...many.map((number) => aPlaylist({ id: `p${number}`, playlist_name: `bread ${number}` })))
  await app.given(...many.map((number) => aVideo({ id: `v${number}`, channelId: 'c0', title: `bread ${number}` })))
  const counts = async (query: string) => {
    const { results } = await find(app, query)
    return [
      results.video_results.length,
      results.channel_results.length,
      results.playlist_results.length,
      results.fulltext_results.length,
    ]
  }

  assert.deepEqual(await counts('bread'), [18, 6, 6, 0])
  assert.deepEqual(await counts('video:bread'), [30, 0, 0, 0])
  assert.deepEqual(await counts('channel:'), [0, 30, 0, 0])
})

test('subtitles: one word is enough, those with all words come first, and hits include their video', async (t) => {
  const app = await anArchive(t)
  await app.given(
    said({ id: 'bread-en-1', line: 'let it proof <in the cold> overnight & rest' }),
    said({ id: 'bread-en-2', line: 'the proofs are in', source: 'auto' }),
    said({ id: 'bread-de-1', line: 'Kalt: cold', lang: 'de' }),
    said({ id: 'kernel-en-1', line: 'a cold start', channelId: 'lab' }),
  )

  const { results } = await find(app, 'full:cold proof')

  const [best, ...others] = results.fulltext_results
  const { _score, ...rest } = best
  assert.ok(_score > 0)
  assert.deepEqual(rest, {
    platform_id: 'bread',
    youtube_id: 'bread',
    title: 'Sourdough bread for beginners',
    subtitle_fragment_id: 'bread-en-1',
    subtitle_index: 1,
    subtitle_line:
      'let it <span class="settings-current">proof</span> &lt;in the <span class="settings-current">cold</span>&gt; overnight &amp; rest',
    subtitle_start: '00:00:01.000',
    subtitle_end: '00:00:09.500',
    subtitle_lang: 'en',
    subtitle_source: 'user',
    subtitle_channel: 'Old Mill Bakery',
    subtitle_channel_id: 'mill',
    subtitle_last_refresh: 1_768_000_000,
    vid_thumb_url: '/cache/videos/b/bread.jpg',
    _index: 'av_subtitle',
  })
  assert.deepEqual(others.map((hit: any) => hit.subtitle_fragment_id).sort(), [
    'bread-de-1',
    'bread-en-2',
    'kernel-en-1',
  ])
})

test('subtitles of one video are in the order of their times', async (t) => {
  const app = await anArchive(t)
  await app.given(
    said({ id: 'proof-en-1', line: 'older, and cold', downloaded: 1_767_000_000 }),
    ...[3, 1, 2].map((at) => said({ id: `bread-en-${at}`, at, line: `cold, said ${at} times` })),
  )

  assert.deepEqual(idsOf(await find(app, 'full:cold')), ['bread-en-1', 'bread-en-2', 'bread-en-3', 'proof-en-1'])
})

const subtitleRows: Array<[string, string[]]> = [
  ['full:cold lang:de', ['bread-de-1']],
  ['full:proof source:auto', ['bread-en-2']],
  ['full:cold channel:mill', ['bread-de-1', 'bread-en-1']],
  ['full:cold lang:en source:user channel:labor', ['kernel-en-1']],
  ['full:col fuzzy:no', ['bread-de-1', 'bread-en-1', 'kernel-en-1']],
  ['full:ol fuzzy:no', []],
  ['full:prooves', ['bread-en-1', 'bread-en-2']],
  ['full:start col fuzzy:no', ['bread-de-1', 'bread-en-1', 'kernel-en-1']],
  ['full:coldd', ['bread-de-1', 'bread-en-1', 'kernel-en-1']],
  ['full:the proof', ['bread-en-1', 'bread-en-2']],
  ['full: lang:de', ['bread-de-1']],
  ['full:cold proof lang:en source:user', ['bread-en-1', 'kernel-en-1']],
]

test('subtitles are filtered by language, source and channel', async (t) => {
  const app = await anArchive(t)
  await app.given(
    said({ id: 'bread-en-1', line: 'let it proof in the cold' }),
    said({ id: 'bread-en-2', line: 'the proofs are in', source: 'auto' }),
    said({ id: 'bread-de-1', line: 'Kalt: cold', lang: 'de' }),
    said({ id: 'kernel-en-1', line: 'a cold start of the machine', channelId: 'lab' }),
    said({ id: 'deleted-en-1', line: 'nobody has this video: cold' }),
  )
  for (const [query, expected] of subtitleRows) assert.deepEqual(idsOf(await find(app, query)).sort(), expected, query)
})

test('a language is found by any spelling of its code, and with all its variants', async (t) => {
  const app = await anArchive(t)
  const languages = ['pt', 'pt-BR', 'zh-Hans', 'zh-Hant-TW', 'es-419', 'ptx', 'iw', 'nb']
  await app.given(...languages.map((lang) => said({ id: `bread-${lang}-1`, line: 'cold', lang })))
  const spellings: Record<string, string[]> = {
    'pt-BR': ['pt-BR'],
    'PT-br': ['pt-BR'],
    pt: ['pt', 'pt-BR'],
    zh: ['zh-Hans', 'zh-Hant-TW'],
    'zh-hant': ['zh-Hant-TW'],
    'zh-Hant-tw': ['zh-Hant-TW'],
    es: ['es-419'],
    iw: ['iw'],
    he: ['iw'],
    no: ['nb'],
    p: [],
    '*': [],
    '-': [],
  }
  for (const [lang, expected] of Object.entries(spellings)) {
    for (const words of ['cold', ''])
      assert.deepEqual(
        idsOf(await find(app, `full:${words} lang:${lang}`)).sort(),
        expected.map((each) => `bread-${each}-1`),
        lang,
      )
  }
})

test('channel: matches all channels of that name, however many', async (t) => {
  const app = await testApp(t)
  await app.given(
    ...Array.from({ length: 1100 }, (_, number) => aChannel({ id: `c${number}`, channel_name: `Bread ${number}` })),
  )
  const some = [0, 1, 99, 500, 999, 1000, 1099].map((number) => `c${number}`)
  await app.given(...some.map((channelId) => aVideo({ id: `of-${channelId}`, channelId, title: 'sourdough' })))

  assert.deepEqual(
    idsOf(await find(app, 'video:sourdough channel:bread')).sort(),
    some.map((channelId) => `of-${channelId}`).sort(),
  )
})

test('a search without words is refused', async (t) => {
  const app = await testApp(t)
  for (const query of ['', '?query=', '?query=%20%20', `?query=${'x'.repeat(2000)}`]) {
    assert.equal((await app.as('user').get(`/api/search/${query}`)).status, 400, query.slice(0, 20))
  }
})

test('unusual texts are words like others and never an error', async (t) => {
  const app = await anArchive(t)
  for (const query of [
    '"',
    '*',
    'a AND (b OR',
    'NEAR(x)',
    "'; DROP TABLE video; --",
    '<b>',
    '%',
    '\\',
    '日本語',
    'x:y:z',
    ':',
    '-',
    'video:*',
    'full:"',
    '\u0000',
  ]) {
    assert.equal((await app.as('user').get(`/api/search/?query=${encodeURIComponent(query)}`)).status, 200, query)
  }
})
