/** Every field of every kind of document survives a backup, in each form; the schemas define the fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'archivolt'
import { type Given, type TestApp, testApp } from 'archivolt/testing'
import { definitionOf } from '../../../plugins/backup/collections.ts'
import { toThreads } from '../../../plugins/video/comment-threads.ts'

const SETS = { 'the reference’s form': [], 'our own form': ['compat'] }

const REFRESHED = 1_768_046_400
const REFRESHED_DAY = '2026-01-10'

/** Fields that must agree with others, or whose values no schema lists; the rest is generated. */
const AGREED: Record<string, (made: Record<string, any>) => Record<string, unknown>> = {
  channel: () => ({
    channel_id: 'UC1',
    channel_last_refresh: REFRESHED_DAY,
    refreshed_at: REFRESHED,
    channel_thumb_url: '/cache/channels/UC1_thumb.jpg',
    channel_banner_url: '/cache/channels/UC1_banner.jpg',
    channel_tvart_url: '/cache/channels/UC1_tvart.jpg',
    art: JSON.stringify({ thumb: 'https://a.example/1', banner: 'https://a.example/2', tvart: 'https://a.example/3' }),
  }),
  video: ({ subtitles, streams, player }) => ({
    platform_id: 'v1',
    channel_id: 'UC1',
    refreshed_at: REFRESHED,
    vid_last_refresh: REFRESHED_DAY,
    published: '2026-01-02',
    vid_thumb_url: '/cache/videos/v/v1.jpg',
    media_url: '/media/UC1/v1.mp4',
    playlist: ['PL1'],
    streams: [
      { ...streams[0], type: 'video', width: 640, height: 360 },
      { ...streams[0], type: 'video', width: 180, height: 540 },
    ],
    width: 640,
    height: 360,
    subtitles: subtitles.map((one: object) => ({ ...one, lang: 'en', media_url: '/media/UC1/v1.en.vtt' })),
    player: { ...player, duration: 62, duration_str: '1m 02s' },
    // Stored in the ledger's marks, or removed once a mark was made of them.
    watched_by: undefined,
    shared_mark: undefined,
    restored_mark: undefined,
  }),
  playlist: ({ playlist_entries }) => ({
    playlist_id: 'PL1',
    playlist_entries: playlist_entries.map((entry: object) => ({ ...entry, platform_id: 'v1', youtube_id: 'v1' })),
    refreshed_at: REFRESHED,
    playlist_last_refresh: REFRESHED_DAY,
    playlist_thumbnail: '/cache/playlists/PL1.jpg',
  }),
  download: () => ({
    platform_id: 'q1',
    status: 'priority',
    vid_thumb_url: '/cache/videos/q/q1.jpg',
    open: true,
    ready: false,
    later: false,
  }),
  comment: () => ({
    platform_id: 'v1',
    comment_comments: toThreads([aComment('c1', 'root'), aComment('c2', 'c1'), aComment('c3', 'root')]).threads,
  }),
  subtitle: () => ({
    platform_id: 'v1',
    channel_id: 'UC1',
    subtitle_fragment_id: 'v1-en-7',
    subtitle_index: 7,
    subtitle_lang: 'en',
  }),
}

const aComment = (id: string, parent: string) => ({
  id,
  parent,
  text: `Text of ${id}`,
  timestamp: 1_767_000_123,
  likeCount: 12,
  isFavorited: true,
  author: `Author of ${id}`,
  authorId: `UC-${id}`,
  authorThumbnail: `https://a.example/${id}`,
  authorIsUploader: true,
})

/** Includes a value for each optional key, and none that a form could confuse with its default. */
function made(schema: any, name: string): any {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum.at(-1)
  if (schema.anyOf) return made(schema.anyOf[0], name)
  if (schema.type === 'object')
    return Object.fromEntries(Object.entries(schema.properties).map(([key, of]) => [key, made(of, key)]))
  if (schema.type === 'array') return [made(schema.items, name)]
  if (schema.type === 'integer')
    return Math.min((schema.minimum ?? 0) + 100 + name.length, schema.maximum ?? Number.POSITIVE_INFINITY)
  if (schema.type === 'number') return 2.5 + name.length
  if (schema.type === 'boolean') return true
  if (schema.type === 'string') return [`some ${name}`, 'de'].find((text) => Value.Check(schema, text))
  throw new Error(`${name}: no value is known for ${JSON.stringify(schema)}`)
}

/** One document of each kind, with every key of its schema. */
const everyKind = (app: TestApp): Given[] =>
  [...app.app.index.definitions.filter(({ derived }) => !derived), ...app.app.hook('archive.documents')].map(
    ({ name, doc: schema }) => {
      const doc = made(schema, name)
      const whole = { ...doc, ...AGREED[name]?.(doc) }
      const { platform_id, channel_id, playlist_id, subtitle_fragment_id } = whole
      const id =
        name === 'channel' ? channel_id : name === 'playlist' ? playlist_id : (subtitle_fragment_id ?? platform_id)
      return { index: name, id: id ?? 'UC1', doc: JSON.parse(JSON.stringify(whole)) }
    },
  )

for (const [form, pluginsOff] of Object.entries(SETS))
  test(`every field of every kind of document survives a backup in ${form}`, async (t) => {
    const app = await testApp(t, { settings: { pluginsOff } })
    const given = everyKind(app)
    for (const { index, doc } of given) {
      const schema = definitionOf(app.app, index)!.doc
      assert.deepEqual(Value.Errors(schema, doc), [], index)
      const without = Object.keys(schema.properties).filter((field) => !(field in doc))
      assert.deepEqual(without, index === 'video' ? ['watched_by', 'shared_mark', 'restored_mark'] : [])
    }
    await app.given(...given)
    await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: true })
    await app.as('user').post('/api/video/v1/progress/', { position: 33 })
    await app.settled()
    const before = await everything(app, given)

    await app.as('admin').post('/api/backup/')
    await app.settled()
    for (const { index, id } of given) await remove(app, index, id)
    await app.as('admin').post('/api/backup/av_backup-20260115-auto.zip/')
    await app.settled()

    const after = await everything(app, given)
    for (const [what, value] of Object.entries(before)) assert.deepEqual(after[what], value, what)
  })

async function remove({ app }: TestApp, name: string, id: string): Promise<void> {
  const definition = app.index.definitions.find((one) => one.name === name)
  if (definition) await app.index.collection(definition).remove(id)
  else if (name === 'perchannel') await app.perChannel.forget(id)
  else await app.queue.remove(id)
}

/** All documents, and what both accounts see of the video. */
async function everything(app: TestApp, given: readonly Given[]): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for (const { index, id } of given) all[`${index} ${id}`] = await app.doc(index, id)
  for (const who of ['admin', 'user']) all[who] = (await app.as(who).get('/api/video/v1/')).body
  return all
}
