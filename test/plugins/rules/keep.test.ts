/** Retention rules: a run does what its preview lists, which a second implementation of the rules confirms. */
import assert from 'node:assert/strict'
import { link, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Conditions, Scope } from '../../../plugins/rules/schema.ts'
import { placesApp } from '../../support/places.ts'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/slow.ts'

const DAY = 86_400

/** Returns the same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}

interface Made {
  id: string
  channelId: string
  title: string
  seconds: number
  bytes: number
  published: string
  added: number
  views: number
  kind: 'videos' | 'shorts' | 'streams'
  playlists: string[]
  isKept: boolean
  isActive: boolean
}

const CHANNELS = ['UCa', 'UCb', 'UCc']
const WORDS = ['harbour', 'tide', 'Küste', 'live', 'trailer']

function library(count: number, seed: number, now: number): Made[] {
  const any = random(seed)
  return Array.from({ length: count }, (_, at) => ({
    id: `made${String(at).padStart(7, '0')}`,
    channelId: CHANNELS[any(3)]!,
    title: `${WORDS[any(5)]} ${WORDS[any(5)]} ${at}`,
    seconds: any(4000),
    bytes: 1 + any(1_000_000),
    published: new Date((now - any(900) * DAY) * 1000).toISOString().slice(0, 10),
    added: now - any(900) * DAY,
    views: any(10_000),
    kind: (['videos', 'shorts', 'streams'] as const)[any(3)]!,
    playlists: any(3) === 0 ? ['PLa'] : [],
    isKept: any(10) === 0,
    isActive: any(5) > 0,
  }))
}

const given = (app: TestApp, all: readonly Made[]) =>
  app.given(
    ...CHANNELS.map((id) => aChannel({ id })),
    aPlaylist({ id: 'PLa', playlist_entries: [] }),
    ...all.map((one) =>
      aVideo({
        ...{ id: one.id, channelId: one.channelId, title: one.title, player: { duration: one.seconds } },
        ...{ media_size: one.bytes, published: one.published, date_downloaded: one.added, vid_type: one.kind },
        ...{ stats: { view_count: one.views }, playlist: one.playlists, active: one.isActive },
        ...(one.isKept && { keep: true as const }),
      }),
    ),
  )

interface Draft {
  side: 'keep'
  scope: Scope
  conditions: Conditions
  outcome: 'keep' | 'remove'
}

function anyRule(any: (below: number) => number, group: number): Draft {
  const scopes: Scope[] = [
    { kind: 'all' },
    { kind: 'channel', id: CHANNELS[any(3)]! },
    { kind: 'playlist', id: 'PLa' },
    { kind: 'group', id: group },
  ]
  const conditions: Conditions[] = [
    { title: { words: [WORDS[any(5)]!.toUpperCase()] } },
    { title: { pattern: `^${WORDS[any(5)]}` } },
    { title_not: { words: [WORDS[any(5)]!, WORDS[any(5)]!] } },
    { longer_than: any(4000) },
    { shorter_than: any(4000) },
    { published_before: any(900) },
    { published_within: any(900) },
    { added_before: any(900) },
    { larger_than: any(1_000_000) },
    { kinds: [(['videos', 'shorts', 'streams'] as const)[any(3)]!] },
    { views_below: any(10_000) },
    { on_platform: any(2) === 0 },
    { newest: { count: any(20), of: any(2) ? 'scope' : 'channel' } },
    { not_newest: { count: any(20), of: any(2) ? 'scope' : 'channel' } },
  ]
  const chosen = { ...conditions[any(conditions.length)]!, ...(any(2) && conditions[any(conditions.length - 2)]!) }
  return { side: 'keep', scope: scopes[any(4)]!, conditions: chosen, outcome: any(3) ? 'remove' : 'keep' }
}

/**
 * The simplest implementation of the rules.
 * @returns ids to remove, each with the number of its rule
 */
function oracle(
  all: readonly Made[],
  rules: readonly Draft[],
  members: readonly string[],
  now: number,
): Map<string, number> {
  const isIn = (one: Made, scope: Scope) =>
    scope.kind === 'all' ||
    (scope.kind === 'channel' && scope.id === one.channelId) ||
    (scope.kind === 'playlist' && one.playlists.includes(scope.id)) ||
    (scope.kind === 'group' && (members.includes(one.channelId) || one.playlists.some((id) => members.includes(id))))
  const rank = (one: Made, scope: Scope, of: 'scope' | 'channel') =>
    all
      .filter((other) => isIn(other, scope) && (of === 'scope' || other.channelId === one.channelId))
      .filter((other) => other.published > one.published || (other.published === one.published && other.id < one.id))
      .length
  const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  const has = (one: Made, words: readonly string[]) => words.some((word) => plain(one.title).includes(plain(word)))
  const isMet = (one: Made, { scope, conditions: is }: Draft) => {
    const days = Math.floor((now - Date.parse(one.published) / 1000) / DAY)
    return (
      (!is.title || ('words' in is.title ? has(one, is.title.words) : new RegExp(is.title.pattern).test(one.title))) &&
      (!is.title_not || ('words' in is.title_not && !has(one, is.title_not.words))) &&
      (is.longer_than === undefined || one.seconds > is.longer_than) &&
      (is.shorter_than === undefined || one.seconds < is.shorter_than) &&
      (is.published_before === undefined || days > is.published_before) &&
      (is.published_within === undefined || days <= is.published_within) &&
      (is.added_before === undefined || (now - one.added) / DAY > is.added_before) &&
      (is.larger_than === undefined || one.bytes > is.larger_than) &&
      (!is.kinds || (is.kinds as string[]).includes(one.kind)) &&
      (is.views_below === undefined || one.views < is.views_below) &&
      (is.on_platform === undefined || is.on_platform === one.isActive) &&
      (!is.newest || rank(one, scope, is.newest.of ?? 'scope') < is.newest.count) &&
      (!is.not_newest || rank(one, scope, is.not_newest.of ?? 'scope') >= is.not_newest.count)
    )
  }
  const going = new Map<string, number>()
  for (const one of all) {
    const at = rules.findIndex((rule) => isIn(one, rule.scope) && isMet(one, rule))
    if (at >= 0 && rules[at]!.outcome === 'remove' && !one.isKept) going.set(one.id, at)
  }
  return going
}

async function rowsOf(app: TestApp, preview: number, outcome: string): Promise<any[]> {
  const rows: any[] = []
  for (let page = 1; ; page++) {
    const { body } = await app.as('admin').get(`/api/rule/preview/${preview}/row/?outcome=${outcome}&page=${page}`)
    rows.push(...body.rows)
    if (body.rows.length === 0) return rows
  }
}

const groupOf = async (app: TestApp) =>
  (
    await app.as('admin').post('/api/group/', {
      name: 'Coast',
      members: [
        { kind: 'channel', id: 'UCb' },
        { kind: 'playlist', id: 'PLa' },
      ],
    })
  ).body.id as number

test('for random libraries and rules, the preview lists what a second implementation does, and the run affects exactly that', async (t) => {
  for (const seed of [1, 2]) {
    const app = await testApp(t)
    const now = Math.floor(app.clock.now() / 1000)
    const all = library(120, seed, now)
    await given(app, all)
    const group = await groupOf(app)
    const any = random(seed + 100)
    const admin = app.as('admin')
    const rules: Draft[] = []
    while (rules.length < 12) {
      const rule = anyRule(any, group)
      const { status, text } = await admin.post('/api/rule/', rule)
      if (status === 200) rules.push(rule)
      else assert.match(text, /cannot be combined|remove everything/)
    }
    const expected = oracle(all, rules, ['UCb', 'PLa'], now)

    const { status, body: preview, text } = await admin.post('/api/rule/preview/', {})

    assert.equal(status, 200, text)
    const ids = preview.rules.map((rule: { id: number }) => rule.id)
    const removed = await rowsOf(app, preview.id, 'remove')
    assert.deepEqual(
      removed.map((row) => `${row.video_id} ${ids.indexOf(row.rule)}`).sort(),
      [...expected].map(([id, at]) => `${id} ${at}`).sort(),
      `seed ${seed}`,
    )
    assert.equal(preview.outcomes.remove.videos, expected.size)
    assert.equal(
      preview.outcomes.remove.bytes,
      all.filter(({ id }) => expected.has(id)).reduce((sum, { bytes }) => sum + bytes, 0),
    )
    assert.equal(preview.outcomes.remove.freed, 0, 'no film of them is on the disk')

    const { body: run } = await admin.post('/api/rule/run/', { preview: preview.id, confirmed: true })
    await app.settled()

    assert.equal((await admin.get(`/api/rule/run/${run.id}/`)).body.run.state, 'done')
    assert.deepEqual(
      await app.ids('video'),
      all
        .map(({ id }) => id)
        .filter((id) => !expected.has(id))
        .sort(),
    )
    const ignored = await app.app.queue.list({ filter: 'ignore', from: 0, size: 1000 })
    assert.deepEqual(
      ignored.items.map(({ platform_id: id }) => id).sort(),
      [...expected.keys()].sort(),
      'no scan fetches them again',
    )
    await app.close()
  }
})

async function small(t: TestContext) {
  const app = await testApp(t)
  const now = Math.floor(app.clock.now() / 1000)
  const all = library(30, 9, now).map((one) => ({ ...one, isKept: false, channelId: 'UCa' }))
  await given(app, all)
  const admin = app.as('admin')
  const { body: rule } = await admin.post('/api/rule/', {
    ...{ side: 'keep', scope: { kind: 'channel', id: 'UCa' }, outcome: 'remove' },
    conditions: { not_newest: { count: 28 } },
  })
  const preview = async () => (await admin.post('/api/rule/preview/', {})).body
  const run = (id: number, more = {}) => admin.post('/api/rule/run/', { preview: id, ...more })
  return { app, admin, all, rule, preview, run }
}

test('a run refuses a list that is older than the affected videos, and a person’s keep wins until the last moment', async (t) => {
  const { app, admin, preview, run, rule } = await small(t)
  const first = await preview()
  const [row] = await rowsOf(app, first.id, 'remove')

  await app.app.videos.setKept(row.video_id, true)
  const kept = await run(first.id)
  assert.equal(kept.status, 409)
  assert.match(kept.body.error, /have changed since/)

  const second = await preview()
  assert.deepEqual(
    (await rowsOf(app, second.id, 'keep')).map(({ note }) => note),
    ['kept'],
  )
  await admin.post(`/api/rule/${rule.id}/`, { name: 'Coast, the newest' })
  assert.match((await run(second.id)).body.error, /rules have changed/)

  const third = await preview()
  app.clock.set(app.clock.now() - 3_600_000)
  assert.match((await run(third.id)).body.error, /clock was set back/)
  app.clock.set(app.clock.now() + 3_600_000 + 2 * DAY * 1000)
  assert.match((await run(third.id)).body.error, /older than a day/)
  const draft = (await admin.post('/api/rule/preview/', { rules: [] })).body
  assert.match((await run(draft.id)).body.error, /unsaved/)
  assert.equal((await app.ids('video')).length, 30)
})

test('a rule is moved only to a channel that is here; one whose channel is gone can still be changed', async (t) => {
  const { app, admin, rule } = await small(t)
  const change = (body: object) => admin.post(`/api/rule/${rule.id}/`, body)

  const refused = await change({ scope: { kind: 'channel', id: 'UCnone' } })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error, /not a channel, playlist or group/)
  assert.deepEqual((await admin.get('/api/rule/')).body.keep[0].scope, rule.scope)

  await admin.delete('/api/channel/UCa/')
  await app.settled()
  const changed = await change({ name: 'Of what is gone', scope: rule.scope })
  assert.deepEqual([changed.status, changed.body.is_lost, changed.body.name], [200, true, 'Of what is gone'])
})

/** A library of one channel in which a rule removes 60 of 70 videos, more than the limit without a confirmation. */
async function manyToRemove(t: TestContext) {
  const app = await testApp(t)
  const now = Math.floor(app.clock.now() / 1000)
  await given(
    app,
    library(70, 5, now).map((one) => ({ ...one, isKept: false, channelId: 'UCa' })),
  )
  const admin = app.as('admin')
  await admin.post('/api/rule/', {
    ...{ side: 'keep', scope: { kind: 'all' }, outcome: 'remove' },
    conditions: { not_newest: { count: 10 } },
  })
  return { app, admin }
}

test('more than fifty videos wait for a confirmation; an automatic run waits, too, and changes nothing until then', async (t) => {
  const { app, admin } = await manyToRemove(t)

  await admin.post('/api/task-name/apply_rules/')
  await app.settled()

  const { body: history } = await admin.get('/api/rule/run/')
  assert.deepEqual(
    history.runs.map(({ state }: { state: string }) => state),
    ['waiting'],
  )
  assert.equal((await app.ids('video')).length, 70)
  const { status, text } = await admin.post(`/api/rule/run/${history.runs[0].id}/`, { action: 'confirm' })
  assert.equal(status, 200, text)
  await app.settled()
  assert.equal((await app.ids('video')).length, 10)
  assert.equal((await admin.post(`/api/rule/run/${history.runs[0].id}/`, { action: 'confirm' })).status, 409)
})

test('a rule that is switched off while the daily run looks for videos removes none', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const conditions = { title: { words: ['video'] } }
  const { body: rule } = await admin.post('/api/rule/', {
    ...{ side: 'keep', scope: { kind: 'all' }, outcome: 'remove', conditions },
  })
  const { media } = app.app
  const { linksOf } = media
  media.linksOf = async (films) => {
    media.linksOf = linksOf
    await admin.post(`/api/rule/${rule.id}/`, { is_on: false })
    return linksOf(films)
  }

  await admin.post('/api/task-name/apply_rules/')
  await app.settled()

  assert.equal(media.linksOf, linksOf, 'the videos were looked for')
  assert.deepEqual(await app.ids('video'), ['v1'])
  assert.deepEqual((await admin.get('/api/rule/run/')).body.runs, [])
})

test('runs that wait day after day, and lists of old runs, do not fill the ledger', async (t) => {
  const { app, admin } = await manyToRemove(t)
  const { clock } = app
  const runs = async () => (await admin.get('/api/rule/run/')).body.runs as Array<{ id: number; state: string }>
  const applied = async () => {
    await admin.post('/api/task-name/apply_rules/')
    await app.settled()
  }
  const parts = () => app.app.ledger.sql<{ n: number }>('SELECT count(*) AS n FROM rules_part').get()!.n

  for (let day = 0; day < 3; day++) {
    await applied()
    clock.set(clock.now() + DAY * 1000)
  }
  await applied()
  assert.deepEqual(
    (await runs()).map(({ state }) => state),
    ['waiting'],
  )
  const [run] = await runs()
  assert.equal((await admin.post(`/api/rule/run/${run!.id}/`, { action: 'confirm' })).status, 200)
  await app.settled()
  assert.ok(parts() > 0)
  clock.set(clock.now() + 2 * DAY * 1000)
  for (let one = 0; one < 21; one++) await admin.post('/api/rule/preview/', { rules: [] })

  assert.equal(parts(), 0)
  const { body } = await admin.get(`/api/rule/run/${run!.id}/`)
  assert.deepEqual([body.run.state, body.run.outcomes.remove.videos, body.rows.length > 0], ['done', 60, true])
})

test('a run that is discarded while a confirmation is checked does not begin, nor do two previews at once', async (t) => {
  const { app, admin } = await manyToRemove(t)
  await admin.post('/api/task-name/apply_rules/')
  await app.settled()
  const [waiting] = (await admin.get('/api/rule/run/')).body.runs
  const { ruleLists } = app.app
  const { again } = ruleLists
  const meanwhile = (work: () => Promise<unknown>) => {
    const { mock } = t.mock.method(ruleLists, 'again', async (...args: Parameters<typeof again>) => {
      mock.restore()
      const sums = await again(...args)
      await work()
      return sums
    })
  }
  const act = (action: string) => admin.post(`/api/rule/run/${waiting.id}/`, { action })

  meanwhile(() => act('discard'))
  const confirmed = await act('confirm')
  await app.settled()

  assert.equal(confirmed.status, 409)
  assert.equal((await admin.get(`/api/rule/run/${waiting.id}/`)).body.run.state, 'discarded')
  assert.equal((await app.ids('video')).length, 70)

  t.mock.method(app.app.ruleRuns, 'work', async () => undefined)
  const preview = (await admin.post('/api/rule/preview/', {})).body.id
  const run = () => admin.post('/api/rule/run/', { preview, confirmed: true })
  const statuses: number[] = []
  meanwhile(async () => statuses.push((await run()).status))
  statuses.push((await run()).status)
  assert.deepEqual(statuses, [200, 409])
})

test('the preview reports the space that is really freed: not a film with another link, a missing one, or one in a location', async (t) => {
  const app = await placesApp(t)
  const admin = app.as('admin')
  const ids = ['own', 'linked', 'missing']
  await app.given(aChannel({ id: 'UCa' }), ...ids.map((id) => aVideo({ id, channelId: 'UCa', media_size: 1000 })))
  const pathOf = (id: string) => app.app.media.pathOf('UCa', id)
  await mkdir(dirname(pathOf('own')), { recursive: true })
  for (const id of ['own', 'linked']) await writeFile(pathOf(id), id)
  await link(pathOf('linked'), join(app.root, 'elsewhere.mp4'))
  await app.placed({ id: 'placed', placeId: await app.place('films'), path: 'placed.mkv', channelId: 'UCa' })
  await admin.post('/api/rule/', {
    ...{ side: 'keep', scope: { kind: 'channel', id: 'UCa' }, conditions: {}, outcome: 'remove' },
  })

  const { body: preview } = await admin.post('/api/rule/preview/', {})

  const told = (rows: any[]) => rows.map(({ video_id: id, freed, note }) => [id, freed, note]).sort()
  assert.deepEqual(told(await rowsOf(app, preview.id, 'remove')), [
    ['linked', 0, 'linked'],
    ['missing', 0, 'no_film'],
    ['own', 1000, undefined],
  ])
  assert.deepEqual(told(await rowsOf(app, preview.id, 'keep')), [['placed', 0, 'place']])
  assert.deepEqual([preview.outcomes.remove.freed, preview.bin_bytes], [1000, 3000])
})

test('the first of two contradicting rules wins; one whose channel is removed is kept and says so', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.given(
    ...['UCa', 'UCb'].map((id) => aChannel({ id })),
    ...['v1', 'v2'].map((id, at) => aVideo({ id, channelId: at ? 'UCb' : 'UCa' })),
  )
  const rule = async (id: string, outcome: string) =>
    (await admin.post('/api/rule/', { side: 'keep', scope: { kind: 'channel', id }, conditions: {}, outcome })).body.id
  const [kept, removed] = [await rule('UCa', 'keep'), await rule('UCa', 'remove')]
  const outcome = async () => {
    const { body: preview } = await admin.post('/api/rule/preview/', {})
    const rows = [...(await rowsOf(app, preview.id, 'keep')), ...(await rowsOf(app, preview.id, 'remove'))]
    return rows.map((row) => [row.video_id, row.rule])
  }

  assert.deepEqual(await outcome(), [['v1', kept]])
  await admin.post('/api/rule/order/', { side: 'keep', order: [removed, kept] })
  assert.deepEqual(await outcome(), [['v1', removed]])

  await admin.delete('/api/channel/UCa/')
  await app.settled()
  const { body } = await admin.get('/api/rule/')
  assert.deepEqual(
    body.keep.map(({ id, is_lost: isLost }: any) => [id, isLost]),
    [
      [removed, true],
      [kept, true],
    ],
  )
  assert.deepEqual(await outcome(), [])
})

test('simultaneous changes of one rule all apply, and their combined result is checked', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const rule = { side: 'keep', scope: { kind: 'all' }, conditions: { added_before: 9 }, outcome: 'keep' }
  const { id } = (await admin.post('/api/rule/', rule)).body
  const change = (...bodies: object[]) => Promise.all(bodies.map((body) => admin.post(`/api/rule/${id}/`, body)))
  const stored = async () => (await admin.get('/api/rule/')).body.keep[0]

  await change({ name: 'Old ones' }, { is_on: false }, { conditions: { added_before: 5 } })

  const { name, is_on, conditions } = await stored()
  assert.deepEqual([name, is_on, conditions], ['Old ones', false, { added_before: 5 }])

  const replies = await change({ outcome: 'remove' }, { conditions: {} })
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400], 'it would remove everything')

  const [changed] = await Promise.all([
    admin.post(`/api/rule/${id}/`, { name: 'x' }),
    app.app.rules.remove(id),
    admin.delete(`/api/rule/${id}/`),
  ])
  assert.ok([200, 404].includes(changed.status), changed.text)
})

test('simultaneous settings of a channel make one rule', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UCa' }))
  const admin = app.as('admin')
  const overwrites = { autodelete_days: 3, index_playlists: true, quality_height: 720, integrate_sponsorblock: true }

  const replies = await Promise.all(
    Object.entries(overwrites).map(([key, value]) =>
      admin.post('/api/channel/UCa/', { channel_overwrites: { [key]: value } }),
    ),
  )

  for (const { status, text } of replies) assert.equal(status, 200, text)
  assert.deepEqual((await admin.get('/api/channel/UCa/')).body.data.channel_overwrites, overwrites)
  const { keep } = (await admin.get('/api/rule/')).body
  assert.deepEqual(
    keep.map(({ setting, conditions }: any) => [setting, conditions.watched.days]),
    [['UCa', 3]],
  )
})

test('the rule of a channel’s setting goes with the channel and comes back with it, even after a restart', async (t) => {
  const first = await testApp(t)
  await first.given(aChannel({ id: 'UCa' }), aChannel({ id: 'UCb' }))
  const settings = (app: TestApp) => app.app.rules.list('keep').map(({ setting, outcome }) => [setting, outcome])
  const never = { channel_overwrites: { autodelete_days: 0 } }
  await first.as('admin').post('/api/channel/UCa/', never)
  await first.as('admin').post('/api/config/', { downloads: { autodelete_days: 30 } })
  await first.settled()
  assert.deepEqual(settings(first), [
    ['UCa', 'keep'],
    ['all', 'remove'],
  ])

  await first.as('admin').delete('/api/channel/UCa/')
  await first.settled()
  assert.deepEqual(settings(first), [['all', 'remove']])
  await first.given(aChannel({ id: 'UCa' }))
  assert.deepEqual(settings(first), [['all', 'remove']], 'a channel that is added again has no setting')
  await first.as('admin').post('/api/channel/UCb/', never)
  await first.as('admin').delete('/api/channel/UCb/')
  await first.close()

  const next = await testApp(t, { dataDir: first.dataDir })
  await next.as('admin').post('/api/bin/restore/', { all: true })
  await next.settled()
  assert.deepEqual(settings(next), [
    ['UCb', 'keep'],
    ['all', 'remove'],
  ])
})

test('a rule for free space removes the oldest, only until there is enough, including the space of the bin; a clock that was set back removes nothing', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const now = Math.floor(app.clock.now() / 1000)
  const ids = ['v1', 'v2', 'v3', 'v4']
  await app.given(
    aChannel({ id: 'UCa' }),
    ...ids.map((id, at) => aVideo({ id, channelId: 'UCa', media_size: 1000, date_downloaded: now - (9 - at) * DAY })),
  )
  for (const id of ids) {
    await mkdir(dirname(app.app.media.pathOf('UCa', id)), { recursive: true })
    await writeFile(app.app.media.pathOf('UCa', id), id)
  }
  const { free } = await app.app.media.space()
  t.mock.method(app.app.media, 'space', async () => ({ free, total: free * 2 }))
  const scope = { kind: 'all' }
  const { body: rule } = await admin.post('/api/rule/', {
    ...{ side: 'keep', scope, conditions: { free_below: free + 1500 }, outcome: 'remove' },
  })
  const removed = async () => {
    const { body: preview } = await admin.post('/api/rule/preview/', {})
    return (await rowsOf(app, preview.id, 'remove')).map((row) => row.video_id)
  }

  assert.deepEqual(await removed(), ['v1', 'v2'])

  for (let day = 0; day < 3; day++) {
    await admin.post('/api/task-name/apply_rules/')
    await app.settled()
    assert.deepEqual(await app.ids('video'), ['v3', 'v4'], 'the space is free once the bin no longer holds the two')
  }
  await admin.post('/api/rule/run/1/', { action: 'undo' })
  await app.settled()
  assert.deepEqual(await app.ids('video'), ids)

  await admin.post('/api/watched/', { id: 'v3', is_watched: true })
  await admin.post(`/api/rule/${rule.id}/`, { conditions: { added_before: 0, watched: { by: 'anyone', days: 0 } } })
  app.clock.set(app.clock.now() - 30 * DAY * 1000)
  assert.deepEqual(await removed(), [])
  app.clock.set(app.clock.now() + 60 * DAY * 1000)
  assert.deepEqual(await removed(), ['v3'])
})

test('a rule leaves a video that it removed alone for 30 days once it is restored, by an undo or from the bin', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const now = app.clock.now() / 1000
  await app.given(
    aChannel({ id: 'UCa' }),
    ...['v1', 'v2'].map((id) => aVideo({ id, channelId: 'UCa', date_downloaded: now - 9 * DAY })),
  )
  await admin.post('/api/rule/', {
    ...{ side: 'keep', scope: { kind: 'all' }, conditions: { added_before: 1 }, outcome: 'remove' },
  })
  const apply = async () => {
    await admin.post('/api/task-name/apply_rules/')
    await app.settled()
    return app.ids('video')
  }

  assert.deepEqual(await apply(), [])
  await admin.post('/api/rule/run/1/', { action: 'undo' })
  await app.settled()
  assert.deepEqual(await apply(), ['v1', 'v2'])
  const { body: preview } = await admin.post('/api/rule/preview/', {})
  assert.deepEqual(
    (await rowsOf(app, preview.id, 'keep')).map(({ note }) => note),
    ['restored', 'restored'],
  )

  app.clock.set(app.clock.now() + 31 * DAY * 1000)
  assert.deepEqual(await apply(), [])
  await admin.post('/api/bin/restore/', { all: true })
  assert.deepEqual(await apply(), ['v1', 'v2'])
})

test('a run and its undo continue after a crash before their jobs, a run also after a stop of the server halfway', async (t) => {
  const { app, admin, preview, run } = await small(t)
  const newest = async () => (await admin.get('/api/rule/run/')).body.runs[0]
  const videos = async () => (await app.ids('video')).length
  const crash = () => t.mock.method(app.app.jobs, 'start', () => Promise.reject(new Error('a power cut')))
  const again = async () => {
    await app.restart()
    await app.settled()
  }

  crash()
  assert.equal((await run((await preview()).id)).status, 500)
  await again()
  const { id, state } = await newest()
  assert.deepEqual([state, await videos()], ['done', 28])

  crash()
  assert.equal((await admin.post(`/api/rule/run/${id}/`, { action: 'undo' })).status, 500)
  await again()
  assert.deepEqual([(await newest()).state, await videos()], ['undone', 30])
  app.clock.set(app.clock.now() + 31 * DAY * 1000) // until then the rule leaves the restored videos alone

  const { ruleRuns, touching } = app.app
  const { work } = ruleRuns
  let signal: AbortSignal | undefined
  t.mock.method(ruleRuns, 'work', (...args: Parameters<typeof work>) => {
    signal = args[1].signal
    return work(...args)
  })
  const begun = new Promise<void>((tell) => {
    const fails = () =>
      new Promise<void>((_done, fail) => {
        signal!.addEventListener('abort', () => fail(signal!.reason))
        tell()
      })
    t.mock.method(touching, 'touch', fails)
  })
  assert.equal((await run((await preview()).id)).status, 200)
  await begun
  await again()
  const { state: ended, reason } = await newest()
  assert.deepEqual([ended, reason, await videos()], ['done', '', 28])
})
