/** Settings of Pinchflat, TubeSync and Youtarr become rules that leave out, keep and remove the same videos. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { compile, decide, type Facts } from '../../../plugins/rules/decide.ts'
import type { Scope } from '../../../plugins/rules/schema.ts'
import { scanned } from '../../support/adopting.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'

const HARBOUR = 'UChhhhhhhhhhhhhhhhhhhhhh'
const DAY = 86_400_000

interface Listed {
  title: string
  seconds: number
  kind: 'videos' | 'shorts' | 'streams'
  /** YYYY-MM-DD */
  published: string
}

/** All combinations of what a filter may check. */
const LISTED: Listed[] = ['Harbour at dawn', 'Unboxing a sextant', 'unboxing', 'The UNBOXING hour'].flatMap((title) =>
  [0.5, 59, 60, 61, 3600, 7201].flatMap((seconds) =>
    (['videos', 'shorts', 'streams'] as const).flatMap((kind) =>
      ['2020-01-01', '2023-03-09', '2023-03-10', '2025-06-01', '2026-01-10'].map((published) => ({
        ...{ title, seconds, kind, published },
      })),
    ),
  ),
)

/** The videos that the archive's download rules accept, and its retention rules in words. */
async function outcomeOf(app: PlacesApp): Promise<{ taken: Listed[]; keep: object[]; quality: object[] }> {
  const rules = compile(app.app.rules.list('take'))
  const now = app.clock.now()
  const taken = LISTED.filter((one) => {
    const facts: Facts = {
      ...{ id: 'v', channelId: HARBOUR, title: one.title, seconds: one.seconds, kind: one.kind },
      ...{ published: one.published, publishedDays: Math.floor((now - Date.parse(one.published)) / DAY) },
      isIn: (scope: Scope) => scope.kind === 'channel' && scope.id === HARBOUR,
    }
    const decision = decide(rules, facts, true)
    return !('rule' in decision) || decision.rule?.outcome !== 'skip'
  })
  return {
    taken,
    keep: app.app.rules.list('keep').map(({ scope, conditions, outcome }) => ({ scope, conditions, outcome })),
    quality: app.app.rules.list('take').flatMap(({ quality }) => quality ?? []),
  }
}

async function planned(t: TestContext, fill: (app: PlacesApp) => Promise<void>) {
  const app = await placesApp(t)
  await fill(app)
  const place = await app.place('films')
  const id = await scanned(app, place)
  const { body: adoption } = await app.as('admin').get(`/api/adoption/${id}/`)
  const make = () => app.as('admin').post(`/api/adoption/${adoption.id}/rules/`)
  return { app, adoption, make }
}

/** For a source with these settings, the program's own decision. */
const cases: Array<{
  program: string
  fill: (app: PlacesApp) => Promise<void>
  isTaken: (one: Listed, nowMs: number) => boolean
  keep: object[]
  quality: object[]
}> = [
  {
    program: 'Pinchflat',
    async fill(app) {
      await app.lay('films/Ferry [ferryFerry1].mkv')
      await mkdir(join(app.root, 'config/db'), { recursive: true })
      const db = new Database(join(app.root, 'config/db/pinchflat.db'))
      db.exec(`CREATE TABLE schema_migrations (version INTEGER);
        CREATE TABLE media_profiles (id INTEGER, preferred_resolution TEXT, shorts_behaviour TEXT, livestream_behaviour TEXT);
        CREATE TABLE sources (id INTEGER, collection_id TEXT, collection_type TEXT, collection_name TEXT, custom_name TEXT,
          enabled INTEGER, download_media INTEGER, marked_for_deletion_at TEXT, media_profile_id INTEGER, download_cutoff_date TEXT,
          retention_period_days INTEGER, title_filter_regex TEXT, min_duration_seconds INTEGER, max_duration_seconds INTEGER);
        CREATE TABLE media_items (id INTEGER, media_id TEXT, title TEXT, description TEXT, media_filepath TEXT, source_id INTEGER,
          livestream INTEGER, short_form_content INTEGER, uploaded_at TEXT, duration_seconds INTEGER, media_downloaded_at TEXT,
          prevent_download INTEGER, prevent_culling INTEGER, original_url TEXT, playlist_index INTEGER);
        INSERT INTO media_profiles VALUES (1, '1080p', 'exclude', 'include');
        INSERT INTO sources VALUES (1, '${HARBOUR}', 'channel', 'Harbour', '', 1, 1, NULL, 1, '2023-03-10', 365, '(?i)^(?!.*unboxing)', 1, NULL);
        INSERT INTO media_items (id, media_id, title, media_filepath, source_id) VALUES (1, 'ferryFerry1', 'Ferry', '/downloads/Ferry [ferryFerry1].mkv', 1);`)
      db.close()
    },
    isTaken: ({ title, seconds, kind, published }) =>
      /^(?!.*unboxing)/i.test(title) && seconds >= 1 && kind !== 'shorts' && published >= '2023-03-10',
    keep: [{ scope: { kind: 'channel', id: HARBOUR }, conditions: { added_before: 365 }, outcome: 'remove' }],
    quality: [{ quality_height: 1080 }],
  },
  {
    program: 'TubeSync',
    async fill(app) {
      await app.lay('films/Ferry.mkv')
      const source = {
        ...{ source_type: 'i', key: HARBOUR, name: 'Harbour', index_schedule: 3600, download_media: true },
        ...{ filter_text: 'unboxing', filter_text_invert: true, filter_seconds: 60, filter_seconds_min: true },
        ...{ download_cap: 31_536_000, delete_old_media: true, days_to_keep: 30, source_resolution: '720p' },
      }
      const media = { key: 'ferryFerry1', downloaded: true, media_file: 'Ferry.mkv', metadata: '', source: 's1' }
      const dump = [
        { model: 'sync.source', pk: 's1', fields: source },
        { model: 'sync.media', pk: 'm1', fields: media },
      ]
      await app.lay('tubesync.json', JSON.stringify(dump))
    },
    isTaken: ({ title, seconds, published }, now) =>
      !/unboxing/.test(title) && seconds >= 60 && Date.parse(published) >= now - 31_536_000_000 - DAY,
    keep: [{ scope: { kind: 'channel', id: HARBOUR }, conditions: { added_before: 30 }, outcome: 'remove' }],
    quality: [{ quality_height: 720 }],
  },
  {
    program: 'Youtarr',
    async fill(app) {
      await app.lay('films/Ferry [ferryFerry1].mkv')
      await app.lay(
        'youtarr.sql',
        `CREATE TABLE \`Videos\` (
  \`id\` int(11),
  \`youtubeId\` varchar(255),
  \`youTubeVideoName\` varchar(255),
  \`filePath\` varchar(255)
);
CREATE TABLE \`channels\` (
  \`id\` int(11),
  \`channel_id\` varchar(255),
  \`title\` varchar(255),
  \`enabled\` tinyint(1),
  \`auto_download_enabled_tabs\` varchar(255),
  \`video_quality\` varchar(10),
  \`min_duration\` int(11),
  \`max_duration\` int(11),
  \`title_filter_regex\` text
);
INSERT INTO \`channels\` VALUES (1,'${HARBOUR}','Harbour',1,'video,short','720',60,7200,'[Hh]our|Harbour');
INSERT INTO \`Videos\` VALUES (1,'ferryFerry1','Ferry','/usr/src/app/data/Ferry [ferryFerry1].mkv');
`,
      )
    },
    isTaken: ({ title, seconds, kind }) =>
      /[Hh]our|Harbour/.test(title) && seconds >= 60 && seconds <= 7200 && kind !== 'streams',
    keep: [],
    quality: [{ quality_height: 720 }],
  },
]

for (const { program, fill, isTaken, keep, quality } of cases)
  test(`the settings of ${program} become rules with the same outcome, each once`, async (t) => {
    const { app, adoption, make } = await planned(t, fill)
    assert.ok(adoption.settings.length > 0, JSON.stringify(adoption))

    const first = await make()
    const again = await make()

    assert.deepEqual([first.status, first.body.left], [200, []], first.text)
    assert.ok(first.body.added > 0)
    assert.equal(again.body.added, 0)
    const outcome = await outcomeOf(app)
    const now = app.clock.now()
    const wanted = LISTED.filter((one) => isTaken(one, now))
    assert.ok(wanted.length > 0 && wanted.length < LISTED.length)
    assert.deepEqual(outcome, { taken: wanted, keep, quality })
  })
