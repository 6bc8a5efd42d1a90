/** Catalogs of other programs as the reading thread reads them: which data is used, and which forms are accepted. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { inEnglish } from 'archivolt'
import Database from 'better-sqlite3'
import { filesNear } from '../../../plugins/adoption/catalogs/find-files.ts'
import { NOTES_FILE, openNotes, readCatalogs } from '../../../plugins/adoption/catalogs/notes.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { lay } from '../../support/lay.ts'
import { infoOf } from '../../support/ytdlp-folder.ts'
import '../../support/slow.ts'

const [FERRY, COMET, FOG] = ['ferryFerry1', 'cometComet1', 'fogFogFogFo'] as const
const SOURCE = { source_type: 'c', key: 'harbour', name: 'Harbour', index_schedule: 3600, download_media: true }

async function aPlace(given: TestContext, files: Record<string, string> = {}) {
  const scope = lastFirst(given)
  const [root, own] = [await temporaryFolder(scope), await temporaryFolder(scope)]
  const place = join(root, 'films')
  await mkdir(place)
  for (const [path, content] of Object.entries(files)) await lay(root)(path, content)
  return {
    root,
    own,
    faults: (at?: string) => readCatalogs(place, [root], filesNear(place, [root], at), own, { at }),
    read: async () => (await readCatalogs(place, [root], filesNear(place, [root]), own)).read,
    notes: () => {
      const notes = openNotes(own, place, [root])
      scope.after(notes.end)
      return notes
    },
  }
}

const fileOf = (folder: string, name: string) => ({
  folder,
  name,
  base: name.replace(/\.[^.]+$/, ''),
  ending: 'mkv' as const,
  sizeBytes: 1,
  changedMs: 1,
  subtitles: [],
})

test('TubeSync with another database is read from its dump', async (t) => {
  const media = (pk: string, fields: object) => ({ model: 'sync.media', pk, fields: { source: 's1', ...fields } })
  const dump = [
    { model: 'sync.source', pk: 's1', fields: SOURCE },
    media('m1', { key: FERRY, title: 'Ferry', downloaded: true, media_file: 'video/harbour/Ferry.mkv', metadata: '' }),
    media('m2', {
      key: COMET,
      title: 'Comet',
      downloaded: true,
      media_file: 'video/harbour/Comet.mkv',
      duration: 61,
      published: '2023-07-15T14:00:00Z',
      metadata: JSON.stringify({ channel_id: 'UCaaaaaaaaaaaaaaaaaaaaaa' }),
    }),
    media('m3', { key: FOG, title: 'Fog', skip: true, manual_skip: true, metadata: '{"extractor_key":"Youtube"}' }),
    { model: 'sync.metadata', pk: 'x1', fields: { media: 'm1', value: infoOf(FERRY) } },
  ]
  const { read, notes } = await aPlace(t, {
    'films/video/harbour/Ferry.mkv': 'x',
    'films/video/harbour/Comet.mkv': 'x',
    'tubesync-dump.json': JSON.stringify(dump),
  })

  const found = await read()

  assert.deepEqual([found?.kind, found?.films, found?.share], ['tubesync', 2, 1])
  assert.deepEqual(
    found?.along.map(({ kind, count }) => [kind, count]),
    [
      ['channel', 1],
      ['ignore', 1],
    ],
  )
  const opened = notes()
  const ferry = opened.of(fileOf('video/harbour', 'Ferry.mkv'))
  assert.deepEqual([ferry?.id, ferry?.info['description']], [FERRY, infoOf(FERRY)['description']])
  const comet = opened.of(fileOf('video/harbour', 'Comet.mkv'))
  assert.deepEqual([comet?.info['duration'], comet?.info['timestamp']], [61, Date.parse('2023-07-15T14:00:00Z') / 1000])
})

const ARCHIVE = JSON.stringify({ [FERRY]: { extractor: 'youtube', file_names: ['Ferry.mkv'] } })

test('the subscriptions of ytdl-sub are found anywhere in its file', async (t) => {
  const { root, read, faults, notes } = await aPlace(t, {
    'films/Ferry.mkv': 'x',
    'films/.ytdl-sub-Ferry-download-archive.json': ARCHIVE,
    'config/subscriptions.yaml': `
__preset__:
  overrides: { banner: "https://www.youtube.com/@preset" }
Jellyfin TV Show by Date | Only Recent:
  = Sea | = TV-G:
    "Harbour & Tide": https://www.youtube.com/@harbour  # by hand
    "~Ferries":
      url: "https://www.youtube.com/channel/UCaaaaaaaaaaaaaaaaaaaaaa"
      s02_url: &list https://www.youtube.com/playlist?list=PLferries
      title: no address
    "+ Songs":
      - https://www.youtube.com/@harbour
      - https://elsewhere.example.com/@harbour
      - *list
      - !!python/object/apply:os.system ["https://www.youtube.com/@tagged"]
`,
  })

  assert.deepEqual(
    (await read())?.along.map(({ kind, count }) => [kind, count]),
    [
      ['channel', 3],
      ['playlist', 1],
    ],
  )
  assert.deepEqual(
    notes()
      .along(0, 10)
      .map(({ one }) => one),
    [
      { kind: 'channel', id: '@harbour', name: 'Harbour & Tide' },
      { kind: 'channel', id: 'UCaaaaaaaaaaaaaaaaaaaaaa', name: 'Ferries' },
      { kind: 'playlist', id: 'PLferries', name: 'Ferries' },
      { kind: 'channel', id: '@tagged', name: 'Songs' },
    ],
  )
  const named = await faults(join(root, 'films/.ytdl-sub-Ferry-download-archive.json'))
  assert.equal(named.read?.along.length, 2, 'also where somebody says which file it is, or a scan begins anew')
})

for (const [what, yaml, why] of [
  ['that is none', 'a: [', /not complete YAML/],
  ['nested without end', '- '.repeat(200_000), /nested too deep/],
  ['full of brackets', '['.repeat(400_000), /not complete YAML/],
  ['that stands for very much', laughs(), /too many YAML aliases/],
  ['that is too large', `a: ${'x'.repeat(600 << 10)}`, /larger than 512 KiB/],
] as const)
  test(`a file of subscriptions ${what} is reported, and its films are imported nevertheless`, async (t) => {
    const { faults } = await aPlace(t, {
      'films/Ferry.mkv': 'x',
      'films/.ytdl-sub-Ferry-download-archive.json': ARCHIVE,
      'films/subscriptions.yml': yaml,
    })
    const { read, faults: told } = await faults()

    assert.equal(read?.films, 1)
    assert.deepEqual(read?.along, [])
    assert.match(told.map(({ code, path, why }) => `${code} ${path.split('/').at(-1)} ${inEnglish(why)}`).join(), why)
  })

/** Each line is ten times as long as the previous one when it is expanded. */
function laughs(): string {
  const lines = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(10)}]`)
  return ['l0: &l0 https://www.youtube.com/@ha', ...lines].join('\n')
}

test('a compressed information file that expands too much is ignored, and its film is imported nevertheless', async (t) => {
  const { root, read, notes } = await aPlace(t, { 'config/complete.list': `youtube ${FERRY}\nyoutube ${COMET}\n` })
  const packed = (id: string, content: string | Buffer) => lay(root)(`jobs/info/${id}.info.json`, gzipSync(content))
  await packed(FERRY, JSON.stringify(infoOf(FERRY)).padEnd(65 << 20))
  await packed(COMET, JSON.stringify(infoOf(COMET)))
  await read()

  const { of } = notes()
  const told = [FERRY, COMET].map((id) => of(fileOf('', `A film [${id}].mkv`)))
  assert.deepEqual(
    told.map((one) => [one?.id, one?.info['title']]),
    [
      [FERRY, undefined],
      [COMET, `Title of ${COMET}`],
    ],
  )
})

test('the settings of a program are shown as text of a limited length', async (t) => {
  const set = {
    ...{ filter_text: '(?:\u202ea+)+$', filter_text_invert: true, filter_seconds: 60, filter_seconds_min: true },
    ...{ delete_old_media: true, days_to_keep: 30, download_cap: 0, source_resolution: 'x'.repeat(5000) },
  }
  const media = { key: FERRY, downloaded: true, media_file: 'Ferry.mkv', metadata: '', source: 's1' }
  const { read } = await aPlace(t, {
    'films/Ferry.mkv': 'x',
    'tubesync.json': JSON.stringify([
      { model: 'sync.source', pk: 's1', fields: { ...SOURCE, ...set } },
      {
        model: 'sync.source',
        pk: 's2',
        fields: { ...SOURCE, name: 'Kept', delete_old_media: false, days_to_keep: 14 },
      },
      { model: 'sync.media', pk: 'm1', fields: media },
    ]),
  })

  assert.deepEqual((await read())?.settings, [
    { of: 'Harbour', key: 'not_titles', value: '(?: a+)+$' },
    { of: 'Harbour', key: 'shortest', value: '60' },
    { of: 'Harbour', key: 'kept_for', value: '30' },
    { of: 'Harbour', key: 'quality', value: 'x'.repeat(200) },
  ])
})

test("of TubeSync's data about a video only the required part is stored in the notes", async (t) => {
  const { root, own, read } = await aPlace(t, { 'films/video/Ferry.mkv': 'x' })
  await mkdir(join(root, 'config'))
  const db = new Database(join(root, 'config', 'db.sqlite3'))
  db.exec(`CREATE TABLE django_migrations (id INTEGER); CREATE TABLE sync_source (uuid TEXT, source_type TEXT);
    CREATE TABLE sync_media (uuid TEXT, key TEXT, title TEXT, downloaded INTEGER, media_file TEXT, metadata TEXT);
    CREATE TABLE sync_media_metadata (uuid TEXT, media_id TEXT, value TEXT);`)
  const captions = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`l${at}`, [{ url: 'x'.repeat(500) }]]))
  const long = infoOf(FERRY, { automatic_captions: captions })
  db.prepare("INSERT INTO sync_media VALUES ('m1', ?, 'Ferry', 1, 'video/Ferry.mkv', '')").run(FERRY)
  db.prepare("INSERT INTO sync_media_metadata VALUES ('x', 'm1', ?)").run(JSON.stringify(long))
  db.close()

  assert.equal((await read())?.kind, 'tubesync')

  const notes = new Database(join(own, NOTES_FILE), { readonly: true })
  const kept = notes.prepare('SELECT info FROM film').pluck().get() as string
  notes.close()
  assert.equal(JSON.parse(kept).title, infoOf(FERRY)['title'])
  assert.ok(kept.length < 2000, `${kept.length} characters`)
})
