/** The archive of a household with everything that people see and decide in it, for tests that restore it. */
import assert from 'node:assert/strict'
import { aChannel, aPlaylist, aVideo, PASSWORD, someComments, type TestApp } from './plugin-testing.ts'

const COMMENT = { comment_id: 'c1', comment_text: 'Fine weather', comment_author: 'Ada', comment_replies: [] }

/**
 * Creates two people with marks, positions and playlists; a channel with settings and rules; a video that exists only
 * here.
 */
export async function fill(app: TestApp): Promise<void> {
  const admin = app.as('admin')
  await admin.post('/api/config/', { downloads: { subtitle_index: true } })
  await app.given(
    aChannel({ id: 'UC1', channel_subscribed: true, channel_overwrites: { index_playlists: true } }),
    aChannel({ id: 'UC2', channel_name: 'Harbour' }),
  )
  for (const [id, channelId] of [
    ['v1', 'UC1'],
    ['v2', 'UC1'],
    ['v3', 'UC2'],
  ] as const)
    await app.download(aVideo({ id, channelId, title: `Herring ${id}` }))
  await app.app.videos.change('v3', { set: { active: false } })
  await app.app.videos.setKept('v3', true)
  await app.given(aPlaylist({ id: 'PL1', entries: ['v1', 'v2', 'gone'], playlist_subscribed: true }))
  await app.app.playlists.recount('PL1')
  await app.app.videos.change('v1', { add: { playlist: ['PL1'] } })
  await app.app.videos.change('v2', { add: { playlist: ['PL1'] } })
  await app.given(someComments('v1', [COMMENT]))
  assert.equal((await admin.post('/api/user/', { username: 'anna', password: PASSWORD })).status, 200)
  assert.equal(
    (await admin.post('/api/user/', { username: 'ben', password: PASSWORD, view: { channel: ['UC2'] } })).status,
    200,
  )
  const anna = app.as('anna')
  await anna.post('/api/watched/', { id: 'v1', is_watched: true })
  await admin.post('/api/watched/', { id: 'v2', is_watched: true })
  await anna.post('/api/video/v2/progress/', { position: 0.3 })
  for (const [who, visibility] of [
    [anna, 'private'],
    [admin, 'shared'],
  ] as const) {
    const made = await who.post('/api/playlist/custom/', { playlist_name: visibility, playlist_visibility: visibility })
    for (const id of ['v2', 'v1', 'v3'])
      await who.post(`/api/playlist/${made.body.playlist_id}/`, { action: 'create', video_id: id })
  }
  await anna.post('/api/playlist/watchlater/', { action: 'create', video_id: 'v3' })
  await admin.post('/api/rule/', {
    ...{ side: 'take', outcome: 'skip', scope: { kind: 'channel', id: 'UC1' }, conditions: { shorter_than: 60 } },
    name: 'No shorts',
  })
  const group = (await admin.post('/api/group/', { name: 'Sea', members: [{ kind: 'channel', id: 'UC2' }] })).body
  await admin.post('/api/rule/', {
    ...{ side: 'keep', outcome: 'keep', scope: { kind: 'group', id: group.id }, conditions: { longer_than: 9 } },
  })
  const cleo = { username: 'cleo', password: PASSWORD, view: { group: [String(group.id)] } }
  assert.equal((await admin.post('/api/user/', cleo)).status, 200)
  await admin.post('/api/config/', { downloads: { sleep_interval: 7 } })
  await app.settled()
}

/** Everything that people see and decide, with accounts by name. */
export async function stateOf({ app }: TestApp) {
  const names = new Map(app.accounts.list().map(({ id, username }) => [id, username]))
  const docs = async (name: string) => {
    const found: Record<string, unknown> = {}
    const definition = app.index.definitions.find((one) => one.name === name)!
    for await (const batch of app.index.collection(definition).scan({ batch: 100 }))
      for (const { id, doc } of batch) {
        const { watched_by: by, ...rest } = doc as { watched_by?: string[] }
        found[id] = { ...rest, ...(by && { watched_by: by.map((one) => names.get(Number(one))).sort() }) }
      }
    return found
  }
  const byName = (text: string) =>
    app.ledger
      .sql<Record<string, unknown>>(text)
      .all()
      .map(({ user_id: user, ...row }) => ({ user: names.get(Number(user)), ...row }))
      .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
  const owned = (value: unknown) =>
    typeof value === 'number'
      ? names.get(value)
      : String(value).replace(/\/(\d+)$/, (_, id) => `/${names.get(Number(id))}`)
  return {
    ...{ video: await docs('video'), channel: await docs('channel'), playlist: await docs('playlist') },
    ...{ comment: await docs('comment'), subtitle: await docs('subtitle') },
    accounts: app.accounts.list().map(({ username, is_staff, is_active, may_download, view }) => ({
      username,
      is_staff,
      is_active,
      may_download,
      view,
    })),
    marks: byName('SELECT user_id, video_id, watched_at FROM watch_mark'),
    positions: byName('SELECT user_id, video_id, position, duration, updated_at FROM watch_position'),
    lists: app.ledger
      .sql<Record<string, unknown>>('SELECT playlist_id, owner_id, private_to, is_shared, name FROM playlist_custom')
      .all()
      .map(({ playlist_id, owner_id, private_to, ...row }) => ({
        ...{ ...row, id: owned(playlist_id), owner: owner_id && owned(owner_id), to: private_to && owned(private_to) },
      }))
      .sort((a, b) => a.id!.localeCompare(b.id!)),
    entries: app.ledger
      .sql<Record<string, unknown>>(
        'SELECT playlist_id, video_id, title, place FROM playlist_custom_entry ORDER BY place',
      )
      .all()
      .map(({ playlist_id, ...row }) => JSON.stringify([owned(playlist_id), row]))
      .sort(),
    checksums: app.ledger
      .sql(
        "SELECT kind, id, part, hex(sha256) AS sha256, streams FROM checksum_file WHERE kind <> 'picture' ORDER BY kind, id, part",
      )
      .all(),
    rules: app.ledger.sql('SELECT side, scope, conditions, outcome, name, is_on FROM rules_rule').all(),
    groups: [
      ...app.ledger.sql('SELECT * FROM rules_group').all(),
      ...app.ledger.sql('SELECT * FROM rules_member').all(),
    ],
    interval: app.preferences.section('downloads').sleep_interval,
  }
}
