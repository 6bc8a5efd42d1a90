/** Exports of other programs, read before anything is subscribed to: every form, and invalid files. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aChannel, aPlaylist, type TestApp, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { CENTRAL_RECORD, patched, zipOf } from '../backup/zips.ts'
import '../../support/long.ts'

const [ONE, TWO, OWN] = ['one', 'two', 'own'].map((name) => `UC${name.padEnd(22, '_')}`) as [string, string, string]
const LIST = `PL${'list'.padEnd(32, '_')}`
const NAMES = { [ONE]: 'Harbour & Tide', [TWO]: 'Kleine "Werkstatt", Hof' }
const FOREIGN = 'https://soundcloud.com/somebody'
const channel = (id: string) => `https://www.youtube.com/channel/${id}`

const preview = (app: TestApp, content: string | Buffer, who: 'admin' | 'user' = 'admin') =>
  app.as(who).post('/api/subscription/preview/', Buffer.from(content), { 'content-type': 'application/octet-stream' })

const archive = (files: Record<string, string | Buffer>): Promise<Buffer> =>
  zipOf(...Object.entries(files).map(([name, content]) => ({ name, content })))
const table = (headings: string, end = '\n') =>
  `${headings}${end}${[ONE, TWO].map((id) => `${id},${channel(id)},"${NAMES[id]!.replaceAll('"', '""')}"`).join(end)}${end}`
const outlines = (addressOf: (id: string) => string, name: (id: string) => string) =>
  [ONE, TWO]
    .map((id) => `<outline text="${name(id).replace(/"/g, '&quot;')}" type="rss" xmlUrl="${addressOf(id)}"/>`)
    .join('\n')
const profile = (id: string, ...ids: string[]) =>
  JSON.stringify({ _id: id, name: id, subscriptions: ids.map((one) => ({ id: one, name: NAMES[one] })) })
const snippet = (id: string) => ({ snippet: { title: NAMES[id], channelId: OWN, resourceId: { channelId: id } } })
const service = (id: number, url: string, name: string) => ({ service_id: id, url, name })
const newPipe = [...[ONE, TWO].map((id) => service(0, channel(id), NAMES[id]!)), service(1, FOREIGN, 'Sounds')]
const freeTube = [
  profile('allChannels', ONE),
  profile('p2', OWN),
  '{"$$indexCreated":{}}',
  profile('p2', TWO),
  profile('p3', OWN),
  '{"_id":"p3","$$deleted":true}',
  '',
]

const grayjay = (): Promise<Buffer> =>
  archive({ exportInfo: '{}', 'stores/subscriptions': JSON.stringify([channel(ONE), channel(TWO)]) })

async function database(t: TestContext): Promise<Buffer> {
  const file = join(await temporaryFolder(t), 'newpipe.db')
  const db = new Database(file)
  db.exec(`CREATE TABLE subscriptions (uid INTEGER PRIMARY KEY, service_id INTEGER, url TEXT, name TEXT);
    CREATE TABLE remote_playlists (uid INTEGER PRIMARY KEY, service_id INTEGER, name TEXT, url TEXT)`)
  const put = db.prepare('INSERT INTO subscriptions (service_id, url, name) VALUES (?, ?, ?)')
  for (const { service_id, url, name } of newPipe) put.run(service_id, url, name)
  const list = `https://www.youtube.com/playlist?list=${LIST}`
  db.prepare('INSERT INTO remote_playlists (service_id, name, url) VALUES (0, ?, ?)').run('Far', list)
  db.close()
  return readFile(file)
}

const forms: Array<[what: string, source: string, content: (t: TestContext) => Promise<Buffer> | string | Buffer]> = [
  ['a table of Takeout', 'takeout', () => table('Channel Id,Channel Url,Channel Title')],
  ['one in another language', 'takeout', () => `\ufeff${table('Kanal-ID,Kanal-URL,Kanaltitel', '\r\n')}\r\n`],
  ['one in UTF-16', 'takeout', () => Buffer.from(`\ufeff${table('a,b,c')}`, 'utf16le')],
  ['JSON of Takeout', 'takeout', () => JSON.stringify([snippet(ONE), snippet(TWO)])],
  [
    'OPML',
    'opml',
    () =>
      `<opml><body>${outlines(
        (id) => `https://www.youtube.com/feeds/videos.xml?channel_id=${id}`,
        (id) => NAMES[id]!.replace('&', '&amp;'),
      )}</body></opml>`,
  ],
  [
    'OPML of another front end, with a stray sign',
    'opml',
    () =>
      `<?xml version="1.0"?><opml><body><outline text="All">${outlines(
        (id) => `https://inv.example.org/feed/channel/${id}`,
        (id) => NAMES[id]!,
      )}</outline>`,
  ],
  [
    'OPML in loose hands',
    'opml',
    () =>
      `<!DOCTYPE opml [<!ENTITY tide "&tide;&tide;">]><OPML><!-- <outline xmlUrl="${OWN}"/> -->
      <outline title='Harbour &#38; Tide' xmlUrl=${ONE}><Outline TEXT='Kleine "Werkstatt", Hof' XMLURL='${TWO}'></OPML>`,
  ],
  ['NewPipe', 'newpipe', () => JSON.stringify({ app_version: '0.28.4', subscriptions: newPipe })],
  [
    'a whole NewPipe',
    'newpipe',
    // Its settings are serialized Java objects, which can execute code: they are not even unpacked.
    async (t) =>
      archive({ 'newpipe.settings': Buffer.alloc(80 << 20, 'aced0005', 'hex'), 'newpipe.db': await database(t) }),
  ],
  ['FreeTube', 'freetube', () => freeTube.join('\n')],
  ['a single profile of FreeTube', 'freetube', () => profile('allChannels', ONE, TWO)],
  ['Invidious', 'invidious', () => JSON.stringify({ subscriptions: [ONE, TWO], watch_history: [] })],
  ['Grayjay', 'grayjay', grayjay],
  [
    'Grayjay with its own ending',
    'grayjay',
    async () => Buffer.concat([Buffer.from('11223344474a0100', 'hex'), await grayjay()]),
  ],
  [
    'a whole Takeout',
    'takeout',
    () =>
      archive({
        'Takeout/YouTube/comments.csv': `Comment ID,Channel ID\nx,${OWN}\n`,
        'Takeout/YouTube/chats.csv': `Text,Channel ID\n"never closed,${OWN}\n`,
        'Takeout/YouTube/Abos/Abos.csv': table('a,b,c'),
      }),
  ],
  ['links, one after another', 'list', () => ` ${channel(ONE)}\n${TWO} `],
]

for (const [what, source, content] of forms)
  test(`${what} is read`, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope)

    const { status, body, text } = await preview(app, await content(scope as TestContext))

    assert.equal(status, 200, text)
    assert.equal(body.source, source)
    const found = body.subscriptions.filter(({ type }: any) => type === 'channel')
    assert.deepEqual(
      found.map(({ id }: any) => id),
      [ONE, TWO],
    )
    if (!['list', 'invidious', 'grayjay'].includes(source))
      assert.deepEqual(
        found.map(({ name }: any) => name),
        [NAMES[ONE], NAMES[TWO]],
      )
    assert.deepEqual(body.skipped, source === 'newpipe' ? [FOREIGN] : [])
    if (what === 'a whole NewPipe')
      assert.deepEqual(body.subscriptions.at(-1), { type: 'playlist', id: LIST, name: 'Far', is_subscribed: false })
    assert.deepEqual(await app.ids('channel'), [], 'nothing is changed')
    assert.ok(!existsSync(join(app.dataDir, 'exports')), 'and nothing of it is kept')
  })

test('existing subscriptions are marked, each is listed once, and each can be subscribed to by the listed name', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: ONE, channel_subscribed: true }),
    aChannel({ id: TWO }),
    aPlaylist({ id: LIST, playlist_subscribed: true }),
  )
  const user = 'https://www.youtube.com/user/oldname'
  const words = [ONE, channel(ONE), TWO, '@handle', user, LIST, 'watchlater', 'WL', 'dQw4w9WgXcQ']

  const { body } = await preview(app, words.join('\n'))

  assert.deepEqual(
    body.subscriptions.map(({ type, id, is_subscribed }: any) => [type, id, is_subscribed]),
    [
      ['channel', ONE, true],
      ['channel', TWO, false],
      ['channel', '@handle', false],
      ['channel', user, false],
      ['playlist', LIST, true],
    ],
  )
  assert.deepEqual([body.skipped, body.skipped_count], [['watchlater', 'WL', 'dQw4w9WgXcQ'], 3])
  for (const { type, id } of body.subscriptions) {
    const { body: known } = await app.as('admin').get(`/api/resolve/?q=${encodeURIComponent(id)}`)
    assert.deepEqual(
      known.map((target: any) => target.type),
      [type],
      id,
    )
  }
})

test('the reason why a file cannot be used has a template and values', async (t) => {
  const { body } = await preview(await testApp(t), `${profile('allChannels', ONE)}\n{"_id": "p2", "sub`)

  assert.deepEqual(body.said[body.message], {
    key: 'Line {line} is not JSON: the file may be truncated',
    params: { line: 2 },
  })
})

type Case = [what: string, content: () => string | Buffer | Promise<Buffer>, reason: RegExp]

/** Archive entries of NewPipe, Grayjay, Takeout and others. */
const ENTRIES = [
  'newpipe.db',
  'stores/subscriptions',
  'Takeout/Abos/Abos.csv',
  'Takeout/history.json',
  'subscriptions.json',
]
/** 30 MB that claim to be a thousand bytes. */
const lying = async (name: string): Promise<Buffer> =>
  patched(await archive({ [name]: Buffer.alloc(30 << 20, 0x20) }), CENTRAL_RECORD, 24, 1000)

for (const [what, content, reason] of [
  ['nothing', () => ' ', /It is empty/],
  ['a history', () => JSON.stringify([{ titleUrl: 'https://www.youtube.com/watch?v=x' }]), /no subscriptions/],
  ['other JSON', () => '{"subscriptions": {"a": 1}}', /no subscriptions/],
  ['JSON that was cut off', () => `${profile('allChannels', ONE)}\n{"_id": "p2", "sub`, /Line 2/],
  ['a picture', () => readFile(new URL('../../data/picture.webp', import.meta.url)), /This is a picture/],
  ['a film', () => readFile(new URL('../../data/film.mp4', import.meta.url)), /This is a video/],
  ['a PDF', () => '%PDF-1.7 and more', /This is a PDF/],
  ['bytes of some kind', () => Buffer.from('00010203', 'hex'), /neither a text nor an archive/],
  ['a table with headings alone', () => 'Channel Id,Channel Url,Channel Title', /no subscriptions/],
  ['words', () => 'nothing that anybody could subscribe to', /no subscriptions/],
  ['a packed archive that is damaged', () => Buffer.from('1f8b0800ffffffff', 'hex'), /damaged/],
  ['a page', () => '<html><body>hello</body></html>', /web page/],
  ['an empty OPML', () => '<opml version="2.0"><body></body></opml>', /has an address/],
  ['XML without an end', () => `<a b="${'x'.repeat(20 << 20)}`, /too long for a list/],
  ['XML in XML in XML', () => '<a>'.repeat(2 << 20), /nested too deep/],
  ['a table that was cut off', () => `${table('a,b,c')}${OWN},${channel(OWN)},"Own`, /never closed/],
  ['a table without an end of cells', () => `a${','.repeat(10 << 20)}`, /too many cells/],
  ['half a zip', () => 'PK\x03\x04 and nothing more', /not a complete zip/],
  ['an archive of something else', () => archive({ 'a.txt': 'hello', 'b.csv': 'x,y\n1,2\n' }), /no list of subscr/],
  [
    'a database of something else',
    () => 'SQLite format 3\0 and nothing more',
    /damaged, or belongs to another program/,
  ],
  ['what is encrypted', () => Buffer.from('11223344474a0101ffffffff', 'hex'), /encrypted/],
  [
    'far too many',
    () => Array.from({ length: 20_001 }, (_, at) => `UC${String(at).padStart(22, '0')}`).join('\n'),
    /more than 20000/,
  ],
  ['a list of empty things without end', () => `[${'{},'.repeat(10 << 20)}{}]`, /too many values/],
  [
    'a list of them in an archive',
    () => archive({ 'stores/history': `[${'[],'.repeat(10 << 20)}[]]` }),
    /too many values/,
  ],
  ['a list that is none', () => archive({ 'stores/subscriptions': '[ "x' }), /cannot be read/],
  ...ENTRIES.flatMap((name): Case[] => [
    [`a bomb in ${name}`, () => archive({ [name]: Buffer.alloc(80 << 20, 0x20) }), /larger than 64 MiB/],
    [`${name} that unpacks to more than it says`, () => lying(name), /The archive is damaged/],
  ]),
  [
    'many files that are none of them too large',
    () =>
      archive(Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`${at}.json`, Buffer.alloc(60 << 20, 0x20)]))),
    /larger than 256 MiB/,
  ],
] as Case[])
  test(`for ${what} the reply says why it cannot be used`, async (t) => {
    const app = await testApp(t)
    const { status, body } = await preview(app, await content())
    assert.equal(status, 422, JSON.stringify(body))
    assert.match(body.message, reason)
    assert.ok(!body.message.includes(app.dataDir))
  })

test('a view with the name of a table is not read, and names are lines of a limited length', async (t) => {
  const scope = lastFirst(t)
  const app = await testApp(scope)
  const file = join(await temporaryFolder(scope), 'evil.db')
  const db = new Database(file)
  db.exec(`CREATE VIEW subscriptions AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT 0 AS service_id, 'x' || i AS url, 'x' AS name FROM n`)
  db.close()
  assert.match((await preview(app, await readFile(file))).body.message, /not from NewPipe/)

  const hostile = service(0, channel(ONE), `\u202e<b>\n${'x'.repeat(999)}`)
  const { body } = await preview(app, JSON.stringify({ subscriptions: [hostile] }))
  assert.equal(body.subscriptions[0].name, `<b> ${'x'.repeat(999)}`.slice(0, 200))
})

for (const [what, table] of [
  [
    'a virtual table',
    `CREATE VIEW long AS SELECT value AS id, 0 AS service_id, 'x' || value AS url, 'x' AS name FROM json_each('[1,2,3]');
     CREATE VIRTUAL TABLE subscriptions USING fts5 (service_id, url, name, content = 'long', content_rowid = 'id')`,
  ],
  [
    'a table with a computed column',
    `CREATE TABLE subscriptions (service_id INTEGER, name TEXT, url TEXT AS ('https://www.youtube.com/channel/${ONE}'));
     INSERT INTO subscriptions (service_id, name) VALUES (0, 'x')`,
  ],
] as const)
  test(`${what} is not read, because its result may be endless`, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope)
    const file = join(await temporaryFolder(scope), 'evil.db')
    const db = new Database(file)
    db.exec(table)
    db.close()

    assert.match((await preview(app, await readFile(file))).body.message ?? '', /not from NewPipe/)
  })

test('only admins may preview, only bytes are accepted, and remains of a crash are removed by the next start', async (t) => {
  const scope = lastFirst(t)
  const app = await testApp(scope)
  await app.close()
  await mkdir(join(app.dataDir, 'exports'))
  await writeFile(join(app.dataDir, 'exports', 'upload'), ONE)
  await app.restart()

  assert.ok(!existsSync(join(app.dataDir, 'exports')))
  assert.equal((await app.as('admin').post('/api/subscription/preview/', { data: [] })).status, 415)
  assert.equal((await preview(app, ONE, 'user')).status, 403)
})
