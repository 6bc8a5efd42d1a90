/** Messages of tasks, requested or pushed on changes (contract 6.1, 8.4, B). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { definePlugin, defineTask, Type } from 'archivolt'
import { aVideo, type TestApp, testApp } from 'archivolt/testing'

/** One task per group; each runs until it is stopped. */
const tasks = ['download:dig', 'setting:sweep', 'channel:look', 'reindex:run'].map((group) =>
  defineTask({
    name: group.replace(':', '_'),
    title: `Task of ${group}`,
    group,
    payload: Type.Object({}),
    lane: 'light',
    apiStart: true,
    apiStop: true,
    async run({ isStopping, signal, progress }, app) {
      progress(0.25, 'Working')
      while (!isStopping()) await app.clock.sleep(1000, signal)
    },
  }),
)
const replace = [definePlugin({ name: 'testing', tasks })]
const groupsOf = (messages: Array<{ group: string }>) => messages.map(({ group }) => group)

interface Event {
  event: string
  data: any
}

/** Reads the event stream as the page does. */
async function listen(
  t: TestContext,
  app: TestApp,
  who: 'admin' | 'user',
): Promise<{ next: (matches: (event: Event) => boolean) => Promise<Event>; seen: Event[] }> {
  const leave = new AbortController()
  t.after(() => leave.abort())
  const account = app.app.accounts.list().find(({ is_staff }) => is_staff === (who === 'admin'))!
  const headers = { authorization: `Token ${await app.app.accounts.token(account.id)}` }
  const response = await fetch(new URL('api/events/', app.url), { headers, signal: leave.signal })
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const seen: Event[] = []
  let rest = ''
  return {
    seen,
    async next(matches) {
      for (let looked = 0; ; ) {
        for (; looked < seen.length; looked++) if (matches(seen[looked]!)) return seen.splice(looked, 1)[0]!
        const { value, done } = await reader.read()
        assert.ok(!done, 'the stream has ended')
        const parts = (rest + value).split('\n\n')
        rest = parts.pop()!
        for (const part of parts) {
          const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? []
          if (event) seen.push({ event, data: JSON.parse(data!) })
        }
      }
    },
  }
}

test('messages of running tasks are listed, and a filter selects those of its groups', async (t) => {
  const app = await testApp(t, { replace })
  // The first start of a folder takes a snapshot, whose job starts by itself.
  while (app.app.jobs.list({ task: 'create_snapshot' }).length === 0) await setImmediate()
  await app.settled()
  // Its message expires; no new minute begins, in which a task with a random schedule might start.
  await app.clock.advance(30_000)
  const ask = async (query = '') => (await app.as('user').get(`/api/notification/${query}`)).body
  assert.deepEqual(await ask(), [])

  const ids: string[] = []
  for (const { name } of tasks) {
    ids.push((await app.app.jobs.start(name)).id)
    await app.clock.advance(10)
  }

  const all = await ask()
  assert.deepEqual(groupsOf(all), ['download:dig', 'setting:sweep', 'channel:look', 'reindex:run'])
  assert.deepEqual(all[0], {
    id: ids[0],
    task_name: 'download_dig',
    title: 'Task of download:dig',
    group: 'download:dig',
    'api-start': true,
    'api-stop': true,
    api_start: true,
    api_stop: true,
    level: 'info',
    command: false,
    messages: ['Working'],
    progress: 0.25,
  })
  assert.deepEqual(groupsOf(await ask('?filter=download')), ['download:dig'])
  assert.deepEqual(groupsOf(await ask('?filter=settings')), ['setting:sweep'])
  assert.deepEqual(groupsOf(await ask('?filter=channel')), ['channel:look'])
  assert.equal((await ask('?filter=')).length, 4)
  assert.equal((await app.as('user').get('/api/notification/?filter=reindex')).status, 400)
})

test('a listening user gets messages at once and after each change, and nothing else', async (t) => {
  const app = await testApp(t, { replace })
  const stream = await listen(t, app, 'user')
  await stream.next(({ event }) => event === 'notification')

  const { id } = await app.app.jobs.start('download_dig')
  await app.clock.advance(10)

  const { data } = await stream.next(
    ({ event, data }) =>
      event === 'notification' && data.some((message: any) => message.id === id && message.messages[0] === 'Working'),
  )
  assert.equal(data.find((message: any) => message.id === id).progress, 0.25)
  await app.app.queue.add([anItem('q1')], 'pending')
  await app.app.jobs.notify({ title: 'The last', group: 'setting:application', level: 'info', messages: [] })
  await stream.next(
    ({ event, data }) => event === 'notification' && data.some(({ title }: any) => title === 'The last'),
  )
  assert.deepEqual(
    [...new Set(stream.seen.map(({ event }) => event))].filter((event) => event !== 'notification'),
    [],
  )
})

test('a listening user is notified when a requested video has arrived; an admin is not', async (t) => {
  const app = await testApp(t, { replace })
  const [user, admin] = [await listen(t, app, 'user'), await listen(t, app, 'admin')]
  await app.app.queue.add([anItem('q1')], 'pending')
  await app.app.emit('queue.asked', { userId: 2, ids: ['q1'] })
  await app.given(aVideo({ id: 'q1', title: 'A film' }))

  await app.app.queue.done('q1')

  const isOfRequests = ({ group }: { group: string }) => group === 'download:request'
  const { data } = await user.next(({ event, data }) => event === 'notification' && data.some(isOfRequests))
  assert.deepEqual(data.find(isOfRequests).messages, ['“A film” is ready to watch'])
  await app.app.jobs.notify({ title: 'The last', group: 'setting:application', level: 'info', messages: [] })
  const last = await admin.next(
    ({ event, data }) => event === 'notification' && data.some(({ title }: any) => title === 'The last'),
  )
  assert.ok(![...admin.seen, last].some(({ event, data }) => event === 'notification' && data.some(isOfRequests)))
})

test('a listening admin is notified of jobs and of the queue, too', async (t) => {
  const app = await testApp(t, { replace })
  const stream = await listen(t, app, 'admin')
  assert.deepEqual((await stream.next(({ event }) => event === 'queue')).data, { reset: true })

  const { id } = await app.app.jobs.start('download_dig')
  const job = await stream.next(({ event, data }) => event === 'job' && data.task_id === id)
  assert.deepEqual([job.data.name, job.data.status, job.data.args], ['download_dig', 'PENDING', []])

  await app.app.queue.add([anItem('q1')], 'pending')
  const added = await stream.next(({ event, data }) => event === 'queue' && data.platform_id === 'q1')
  assert.deepEqual([added.data.status, added.data.youtube_id, added.data._index], ['pending', 'q1', 'av_download'])

  const turn = app.app.queue.begin('q1')
  turn.report({ fraction: 0.5, speed: 1000, eta: 9 })
  const isOfItem = ({ event, data }: { event: string; data: any }) => event === 'queue' && data.platform_id === 'q1'
  const begun = await stream.next(isOfItem)
  assert.equal(begun.data.progress.fraction, 0, 'it is shown as it begins')
  const running = await stream.next(isOfItem)
  assert.deepEqual(running.data.progress, { fraction: 0.5, speed: 1000, eta: 9 })
  turn.end()
  const put = await stream.next(isOfItem)
  assert.equal(put.data.progress, undefined, 'it is shown as it is no longer worked on')

  await app.app.queue.remove('q1')
  const removed = await stream.next(({ event, data }) => event === 'queue' && data.platform_id === 'q1')
  assert.deepEqual(removed.data, { platform_id: 'q1', youtube_id: 'q1', removed: true })

  await app.app.queue.removeWhere({ filter: 'ignore' })
  assert.deepEqual((await stream.next(({ event }) => event === 'queue')).data, { reset: true })
})

test('an admin who becomes a plain user while listening is disconnected, and is no longer notified of jobs', async (t) => {
  const app = await testApp(t, { replace })
  await app.app.accounts.create({ username: 'second', password: 'a password for tests', isStaff: true })
  const before = await listen(t, app, 'admin')
  await before.next(({ event }) => event === 'queue')

  await app.app.accounts.change(app.app.accounts.list()[0]!.id, { is_staff: false })

  await assert.rejects(
    before.next(() => false),
    /the stream has ended/,
  )
  const stream = await listen(t, app, 'user')
  await stream.next(({ event }) => event === 'notification')
  stream.seen.length = 0
  const { id } = await app.app.jobs.start('download_dig')
  await app.clock.advance(10)
  await stream.next(({ event, data }) => event === 'notification' && data.some((message: any) => message.id === id))
  assert.ok(!stream.seen.some(({ event, data }) => event === 'job' && data.task_id === id))
})

test('an admin without the required second factor is notified like a user, also on an open stream', async (t) => {
  const app = await testApp(t, { replace })
  const before = await listen(t, app, 'admin')
  await before.next(({ event }) => event === 'queue')

  await app.app.preferences.change({ accounts: { admins_need_second_factor: true } })

  await assert.rejects(
    before.next(() => false),
    /the stream has ended/,
  )
  const stream = await listen(t, app, 'admin')
  await app.app.jobs.notify({ title: 'For admins', group: 'x', level: 'info', messages: [], isForAdmins: true })
  const { id } = await app.app.jobs.start('download_dig')
  await app.app.queue.add([anItem('q1')], 'pending')
  await app.clock.advance(10)
  await stream.next(({ event, data }) => event === 'notification' && data.some((message: any) => message.id === id))
  await app.app.jobs.notify({ title: 'The last', group: 'x', level: 'info', messages: [] })
  const last = await stream.next(
    ({ event, data }) => event === 'notification' && data.some(({ title }: any) => title === 'The last'),
  )
  assert.ok([...stream.seen, last].every(({ event }) => event === 'notification'))
  assert.ok(!last.data.some(({ title }: any) => title === 'For admins'))
})

test('nobody can listen without an account', async (t) => {
  const app = await testApp(t)
  assert.equal((await app.as('nobody').get('/api/events/')).status, 401)
  assert.equal((await app.as('nobody').get('/api/notification/')).status, 401)
})

function anItem(id: string) {
  const { title, published } = aVideo({ id }).doc as { title: string; published: string }
  return { id, title, channelId: 'UC1', channelName: 'One', durationSeconds: 10, published, vidType: 'videos' as const }
}
