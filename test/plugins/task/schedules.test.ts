/** Schedules and outgoing URLs (contract 5.11, 6.11, 8.2, 8.5, B). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { testApp } from 'archivolt/testing'
import task from '../../../plugins/task/plugin.ts'

const sweep = defineTask({
  name: 'sweep',
  title: 'Sweep the Floor',
  payload: Type.Object({}),
  lane: 'light',
  outgoing: true,
  schedule: { auto: '0 8 *', config: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1 })) }) },
  run: async () => null,
})
const hush = defineTask({ name: 'hush', title: 'Hush', payload: Type.Object({}), lane: 'light', run: async () => null })
const plugins = [task, definePlugin({ name: 'testing', tasks: [sweep, hush] })]

test('a schedule is set, listed, replaced and removed', async (t) => {
  const app = await testApp(t, { plugins })
  const admin = app.as('admin')

  const set = await admin.post('/api/schedule/', { task_name: 'sweep', schedule: '30 4 1,3', config: { days: 5 } })
  assert.equal(set.status, 200)
  assert.deepEqual(
    [set.body.name, set.body.schedule, set.body.config, set.body.last_run_at],
    ['sweep', '30 4 1,3', { days: 5 }, null],
  )
  assert.equal(typeof set.body.schedule_human, 'string')
  assert.ok(!Number.isNaN(Date.parse(set.body.next_run_at)))
  const listed = (await admin.get('/api/schedule/')).body.find(({ name }: any) => name === 'sweep')
  assert.deepEqual(listed, set.body)

  assert.equal((await admin.post('/api/schedule/', { task_name: 'sweep', schedule: 'auto' })).body.schedule, '0 8 *')
  assert.deepEqual((await admin.delete('/api/schedule/', { task_name: 'sweep' })).body, { success: true })
  assert.ok(!(await admin.get('/api/schedule/')).body.some(({ name }: any) => name === 'sweep'))
})

test('a new installation scans, downloads and refreshes every day automatically; an existing one keeps its schedules', async (t) => {
  const app = await testApp(t)
  const hours = async () =>
    Object.fromEntries(
      (await app.as('admin').get('/api/schedule/')).body.map(({ name, schedule }: any) => [
        name,
        schedule.replace(/^\d{1,2} /, ''),
      ]),
    )
  const { thumbnail_check: _, version_check: __, update_downloader: ___, ...own } = await hours()
  const { redownload_degraded: again, follow_places: follow, scrub, ...more } = own
  const { write_sidecars: write, check_lost: lost, back_up_offsite: back, check_offsite: check, ...rest } = more
  const { back_up_all: whole, rehearse_restore: rehearsal, ...others } = rest
  assert.deepEqual([whole, rehearsal], ['3 0', '5 0'], 'weekly')
  assert.deepEqual([back, check], ['3 *', '5 6'], 'once a repository is set')
  assert.deepEqual([follow, scrub, write, lost], ['* *', '* *', '* *', '* *'], 'every hour')
  const daily = {
    update_subscribed: '8 *',
    download_pending: '9 *',
    check_reindex: '12 *',
    update_faces: '4 *',
    apply_rules: '4 *',
  }
  assert.deepEqual(others, daily)
  assert.match(again ?? '', /^\d+ \*$/, 'at an hour of its own')

  // As an older version has left it.
  await app.app.ledger.write(() =>
    app.app.ledger.sql(`DELETE FROM schedules WHERE task IN ('update_subscribed', 'download_pending')`).run(),
  )
  await app.app.ledger.write(() =>
    app.app.ledger
      .sql(`DELETE FROM meta WHERE key IN ('schedule.initial.update_subscribed', 'schedule.initial.download_pending')`)
      .run(),
  )
  await app.restart()

  assert.deepEqual(Object.keys(await hours()), [
    'apply_rules',
    'back_up_all',
    'back_up_offsite',
    'check_lost',
    'check_offsite',
    'check_reindex',
    'follow_places',
    'redownload_degraded',
    'rehearse_restore',
    'scrub',
    'thumbnail_check',
    'update_downloader',
    'update_faces',
    'version_check',
    'write_sidecars',
  ])
})

test('impossible schedules are refused', async (t) => {
  const app = await testApp(t, { plugins })
  const rows: object[] = [
    {},
    { task_name: 'sweep' },
    { task_name: 'nope', schedule: 'auto' },
    { task_name: 'hush', schedule: 'auto' },
    { task_name: 'sweep', schedule: '* * *' },
    { task_name: 'sweep', schedule: '0 8 * * *' },
    { task_name: 'sweep', schedule: '60 8 *' },
    { task_name: 'sweep', schedule: '0 8 *', config: { weeks: 1 } },
    { task_name: 'sweep', schedule: '0 8 *', config: { days: 'x' } },
    { task_name: 'sweep', schedule: '0 8 *', config: [] },
  ]
  for (const body of rows)
    assert.equal((await app.as('admin').post('/api/schedule/', body)).status, 400, JSON.stringify(body))
})

test('a schedule is removed by query or body, which must agree', async (t) => {
  const app = await testApp(t, { plugins })
  const admin = app.as('admin')
  const rows: Array<[string, object | undefined, number]> = [
    ['', undefined, 400],
    ['', {}, 400],
    ['?task_name=', {}, 400],
    ['?task_name=nope', undefined, 404],
    ['?task_name=sweep', { task_name: 'version_check' }, 400],
    ['?task_name=sweep', undefined, 200],
    ['?task_name=sweep', undefined, 404],
  ]
  await admin.post('/api/schedule/', { task_name: 'sweep', schedule: 'auto' })
  for (const [query, body, status] of rows)
    assert.equal((await admin.delete(`/api/schedule/${query}`, body)).status, status, query + JSON.stringify(body))
  await admin.post('/api/schedule/', { task_name: 'sweep', schedule: 'auto' })
  assert.equal((await admin.delete('/api/schedule/?task_name=sweep', { task_name: 'sweep' })).status, 200)
})

test('outgoing URLs are added once, listed by task, and removed one by one or all', async (t) => {
  const app = await testApp(t, { plugins })
  const admin = app.as('admin')
  const path = '/api/schedule/notification/'
  assert.deepEqual((await admin.get(path)).body, {})

  await admin.post(path, { task_name: 'sweep', url: 'json://one.example/a' })
  await admin.post(path, { task_name: 'sweep', url: 'json://one.example/a' })
  await admin.post(`${path}?task_name=sweep`, { url: 'mailto://two.example' })
  const added = await admin.post(path, { task_name: 'sweep', url: 'json://three.example/c' })

  const all = {
    sweep: {
      urls: ['json://one.example/a', 'mailto://two.example', 'json://three.example/c'],
      title: 'Sweep the Floor',
    },
  }
  assert.deepEqual(added.body, all)
  assert.deepEqual((await admin.get(path)).body, all)

  assert.deepEqual((await admin.delete(path, { task_name: 'sweep', url: 'json://one.example/a' })).body, {
    success: true,
  })
  assert.deepEqual(
    (await admin.delete(`${path}?task_name=sweep&url=${encodeURIComponent('mailto://two.example')}`)).body,
    { success: true },
  )
  assert.deepEqual((await admin.get(path)).body.sweep.urls, ['json://three.example/c'])
  await admin.delete(path, { task_name: 'sweep' })
  assert.deepEqual((await admin.get(path)).body, {})
})

test('invalid outgoing URLs are refused', async (t) => {
  const app = await testApp(t, { plugins })
  const admin = app.as('admin')
  const path = '/api/schedule/notification/'
  const adding: Array<[object, number]> = [
    [{ task_name: 'sweep' }, 400],
    [{ url: 'json://a.example' }, 400],
    [{ task_name: 'nope', url: 'json://a.example' }, 400],
    [{ task_name: 'hush', url: 'json://a.example' }, 400],
    [{ task_name: 'sweep', url: 'no url' }, 400],
    [{ task_name: 'sweep', url: '' }, 400],
    [{ task_name: 'sweep', url: 5 }, 400],
  ]
  for (const [body, status] of adding) assert.equal((await admin.post(path, body)).status, status, JSON.stringify(body))
  await admin.post(path, { task_name: 'sweep', url: 'json://a.example' })
  const removing: Array<[object, number]> = [
    [{}, 400],
    [{ url: 'json://a.example' }, 400],
    [{ task_name: 'nope' }, 404],
    [{ task_name: 'sweep', url: 'json://b.example' }, 404],
    [{ task_name: 'sweep', url: '' }, 400],
    [{ task_name: 'sweep' }, 200],
    [{ task_name: 'sweep' }, 404],
  ]
  for (const [body, status] of removing)
    assert.equal((await admin.delete(path, body)).status, status, JSON.stringify(body))
})
