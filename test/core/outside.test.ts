/** External plugins: their failures are attributed to them and affect nobody else; calls to them have a time limit. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLog } from '../../core/log.ts'
import { definePlugin, defineTask, type Plugin } from '../../core/plugin/define.ts'
import { errors, Type } from '../../plugins/plugin-kit/public.ts'
import { temporaryFolder } from '../support/folder.ts'
import { NO_PROGRAMS } from '../support/refused.ts'
import { aVideo, type TestApp, testApp, testClock } from '../support/testing.ts'
import { aRoute, type Loose, loose } from './loose.ts'

const never = () => new Promise<never>(() => undefined)

function aLog() {
  const lines: Loose[] = []
  return { lines, log: openLog('info', { write: (line: string) => void lines.push(JSON.parse(line) as Loose) }) }
}

/** Emits `word.said`, and calls its hooks. */
const asks = definePlugin({
  name: 'asks',
  events: ['word.said'] as never[],
  hooks: ['asks.word', 'asks.surely', 'asks.parts', 'asks.now'] as never[],
  hookRules: {
    'asks.word': { withinSeconds: 5, otherwise: ([sign]: readonly string[]) => `none${sign}` },
    'asks.now': { isSync: true },
  } as never,
  routes: [
    aRoute('/api/say/', async (app) => (await loose(app)['emit']('word.said', { word: 'x' }), {})),
    aRoute('/api/word/', async (app) =>
      Promise.all(
        loose(app)
          ['hook']('asks.word')
          .map((implementation: (sign: string) => unknown) => implementation('!')),
      ),
    ),
    aRoute('/api/surely/', async (app) =>
      Promise.all(
        loose(app)
          ['hook']('asks.surely')
          .map((implementation: () => unknown) => implementation()),
      ),
    ),
    aRoute('/api/now/', (app) =>
      loose(app)
        ['hook']('asks.now')
        .map((implementation: () => string) => implementation().toUpperCase()),
    ),
    aRoute('/api/parts/', (app) =>
      loose(app)
        ['hook']('asks.parts')
        .map(({ text, make }: { text: string; make: () => string }) => text + make()),
    ),
    aRoute('/api/enveloped/', () => ({}), { envelope: 'item' }),
  ],
})
const outside = (more: object): Plugin => definePlugin({ name: 'tide', needs: ['asks'], ...more })
const heard = (listener: (event: any) => unknown) => outside({ on: { 'word.said': () => listener } })
const jobsOf = ({ app }: TestApp) =>
  app.ledger
    .sql<{ state: string; retries: number; payload: string }>(
      `SELECT state, retries, payload FROM jobs WHERE task = 'tide.hear'`,
    )
    .all()

test('a failing external listener affects nobody: it is tried three times, then people are told, with the name of its plugin', async (t) => {
  const { lines, log } = aLog()
  let tries = 0
  const fails = heard(() => {
    tries++
    throw new Error('no water in /srv/tide/basin')
  })
  const order: string[] = []
  const own = definePlugin({
    name: 'own',
    needs: ['asks'],
    on: { 'word.said': () => () => void order.push('own') } as never,
  })
  const app = await testApp(t, { plugins: [asks, own], outside: [fails], log })

  const lastFailure = () => app.app.plugins.list().find(({ name }) => name === 'tide')?.lastFailure?.message

  const reply = await app.as('nobody').get('/api/say/')
  await app.clock.advance(0)
  assert.deepEqual([reply.status, order, tries], [200, ['own'], 1])
  assert.equal(lastFailure(), 'no water in …/basin', 'told at its first try')
  assert.equal(jobsOf(app)[0]?.state, 'RETRY')
  await app.clock.advance(30_000)
  assert.equal(tries, 2)
  await app.clock.advance(299_000)
  assert.equal(tries, 2)
  await app.clock.advance(1_000)

  assert.deepEqual([tries, jobsOf(app)[0]?.state], [3, 'FAILURE'])
  const [told] = app.app.jobs.notifications()
  assert.deepEqual(
    [told?.title, told?.level, told?.messages],
    ['Plugin tide', 'error', ['It failed 3 times to handle word.said. See the log']],
  )
  assert.ok(lines.filter(({ err }) => err).every(({ plugin }) => plugin === 'tide'))
  assert.equal(lastFailure(), 'no water in …/basin')
})

test('an event for an external listener is on disk before its emitter continues, and is delivered after a kill', async (t) => {
  const words: string[] = []
  let isStuck = true
  const app = await testApp(t, {
    plugins: [asks],
    outside: [heard(({ word }) => (words.push(word), isStuck ? never() : undefined))],
  })

  await app.as('nobody').get('/api/say/')
  assert.deepEqual(JSON.parse(jobsOf(app)[0]!.payload), { event: 'word.said', told: { word: 'x' } })
  await app.clock.advance(0)
  const closing = app.restart()
  isStuck = false
  await app.clock.advance(10_000)
  await closing
  await app.settled()

  assert.deepEqual(words, ['x', 'x'])
})

test('events are delivered one after the other, in order; equal pending ones are merged', async (t) => {
  const begun: string[] = []
  let open = (): void => undefined
  const first = new Promise<void>((resolve) => (open = resolve))
  const app = await testApp(t, {
    plugins: [asks],
    outside: [heard(({ word }) => (begun.push(word), word === 'a' ? first : undefined))],
  })
  const tell = (word: string) => loose(app.app)['emit']('word.said', { word })

  for (const word of ['a', 'b', 'b', 'c', 'b']) await tell(word)
  await app.clock.advance(0)
  assert.deepEqual(begun, ['a'])
  open()
  await app.settled()

  assert.deepEqual(begun, ['a', 'b', 'c'])
})

test('a failing built-in listener fails the emitter, too', async (t) => {
  const own = definePlugin({
    name: 'own',
    needs: ['asks'],
    on: { 'word.said': () => () => Promise.reject(new Error('no')) } as never,
  })
  const app = await testApp(t, { plugins: [asks, own] })

  assert.equal((await app.as('nobody').get('/api/say/')).status, 500)
})

test('steps of jobs are delivered synchronously; an external listener that fails or hangs there delays no job twice', async (t) => {
  let _calls = 0
  const stuck = definePlugin({ name: 'stuck', on: { 'job.step': () => (++_calls, never) } })
  const fails = definePlugin({ name: 'tide', on: { 'job.step': () => () => Promise.reject(new Error('no')) } })
  const task = defineTask({
    name: 'walk',
    title: 'Walk',
    payload: Type.Object({}),
    lane: 'light',
    run: async ({ step }) => (await step('one', () => 1), await step('two', () => 2), 'walked'),
  })
  const { lines, log } = aLog()
  const app = await testApp(t, { plugins: [definePlugin({ name: 'a', tasks: [task] })], outside: [stuck, fails], log })

  const { id } = await app.app.jobs.start(task)
  await app.clock.advance(10_000)
  await app.settled()

  assert.deepEqual(
    [app.app.jobs.get(id)?.result, app.clock.now() - Date.parse('2026-01-15T10:00:00Z')],
    ['walked', 10_000],
  )
  assert.deepEqual([...new Set(lines.filter(({ msg }) => /listener/.test(msg)).map(({ plugin }) => plugin))].sort(), [
    'stuck',
    'tide',
  ])
})

for (const [why, implementation] of [
  [
    'throws',
    () => {
      throw new Error('dry')
    },
  ],
  ['rejects', () => Promise.reject(new Error('dry'))],
  ['never answers', never],
] as const) {
  test(`a hook continues without an external implementation that ${why}, or its caller gets an error with the name`, async (t) => {
    const { lines, log } = aLog()
    const tide = outside({ implements: { 'asks.word': () => implementation, 'asks.surely': () => implementation } })
    const sea = definePlugin({
      name: 'sea',
      needs: ['asks'],
      implements: { 'asks.word': () => () => 'sea', 'asks.surely': () => () => 'sea' } as never,
    })
    const app = await testApp(t, { plugins: [asks, sea], outside: [tide], log })

    const word = app.as('nobody').get('/api/word/')
    const surely = app.as('nobody').get('/api/surely/')
    if (implementation === never) await answered(app, word, 5_000)
    assert.deepEqual((await word).body, ['sea', 'none!'])
    if (implementation === never) await answered(app, surely, 25_000)
    const { status, body } = await surely

    assert.deepEqual(
      [status, body.code, body.message],
      [
        503,
        'unavailable',
        'The plugin tide could not answer because of an error; the log says why. Fix the plugin, or switch it off',
      ],
    )
    assert.deepEqual(
      lines
        .filter(({ hook }) => hook)
        .map(({ plugin, hook }) => [plugin, hook])
        .sort(),
      [
        ['tide', 'asks.surely'],
        ['tide', 'asks.word'],
      ],
    )
  })
}

for (const [what, answer] of [
  ['nothing', undefined],
  ['a list', ['dry']],
  ['nothing later', Promise.resolve()],
] as const) {
  test(`a hook goes on without an answer from outside that is ${what} instead of a text, and its plugin is named`, async (t) => {
    const { lines, log } = aLog()
    const tide = outside({ implements: { 'asks.word': () => () => answer } })
    const app = await testApp(t, { plugins: [asks], outside: [tide], log })

    const { body } = await app.as('nobody').get('/api/word/')

    assert.deepEqual(body, ['none!'])
    const [{ plugin, err }] = lines.filter(({ hook }) => hook) as [Loose]
    assert.equal(plugin, 'tide')
    assert.match(err.message, /^the answer to asks\.word is (Undefined|Array), but must be String$/)
  })
}

for (const [what, now] of [
  ['answers', async () => 'wet'],
  ['fails', () => Promise.reject(new Error('dry'))],
] as const) {
  test(`an implementation from outside that ${what} later than its hook allows gets an error with the name, and the log says why`, async (t) => {
    const { lines, log } = aLog()
    const app = await testApp(t, {
      plugins: [asks],
      outside: [outside({ implements: { 'asks.now': () => now } })],
      log,
    })

    const { status, body } = await app.as('nobody').get('/api/now/')

    assert.equal(status, 503)
    assert.match(body.message, /^The plugin tide could not answer/)
    const [{ plugin, err }] = lines.filter(({ hook }) => hook === 'asks.now') as [Loose]
    assert.equal(plugin, 'tide')
    assert.equal(err.message, 'asks.now must answer at once: its implementation must not be async')
  })
}

/** Requests use the network, in real time: advances the clock until the answer arrives. */
async function answered(app: TestApp, reply: Promise<unknown>, ms: number): Promise<void> {
  let isThere = false
  void reply.then(() => (isThere = true))
  for (await app.clock.advance(ms); !isThere; await app.clock.advance(ms))
    await new Promise((resolve) => setImmediate(resolve))
}

test('an implementation that is an object is called part by part; an AppError is its answer', async (t) => {
  const parts = outside({
    implements: {
      'asks.parts': () => ({ text: 'high ', make: () => 'water' }),
      'asks.surely': () => () => Promise.reject(errors.notFound('tide', 'x')),
    },
  })
  const app = await testApp(t, { plugins: [asks], outside: [parts] })

  assert.deepEqual((await app.as('nobody').get('/api/parts/')).body, ['high water'])
  assert.deepEqual(
    [(await app.as('nobody').get('/api/surely/')).status, app.app.plugins.list().at(-1)?.lastFailure],
    [404, undefined],
  )
})

test('an external handler that never answers is 503 after its limit, and is logged by name; so is one that fails', async (t) => {
  const { lines, log } = aLog()
  const tide = outside({
    routes: [
      aRoute('/api/never/', never),
      aRoute('/api/soon/', never, { withinSeconds: 2 }),
      aRoute('/api/fails/', () => {
        throw new Error('dry')
      }),
    ],
  })
  const app = await testApp(t, { plugins: [asks], outside: [tide], log })

  const replies = ['/api/never/', '/api/soon/'].map((path) => app.as('nobody').get(path))
  await answered(app, replies[1]!, 2_000)
  assert.equal((await replies[1]!).status, 503)
  await answered(app, replies[0]!, 30_000)
  const { status, body } = await replies[0]!
  const failed = await app.as('nobody').get('/api/fails/')

  assert.deepEqual([status, body.message], [503, 'The plugin tide did not answer in time'])
  assert.equal(failed.status, 500)
  assert.deepEqual(
    lines.filter(({ request }) => request).map(({ plugin, msg }) => [plugin, msg]),
    [
      ['tide', 'a handler did not answer in time'],
      ['tide', 'a handler did not answer in time'],
      ['tide', 'a request failed'],
    ],
  )
})

test('an external plugin that fails in a part of every answer is left out of it', async (t) => {
  const app = await testApp(t, {
    plugins: [asks],
    outside: [
      outside({
        envelope: () => {
          throw new Error('dry')
        },
      }),
    ],
  })

  assert.deepEqual((await app.as('nobody').get('/api/enveloped/')).body, { data: {}, config: {} })
})

test('an external setup that hangs ends the start, with the name and the way to start without it', async (t) => {
  const clock = testClock()
  const starting = testApp(t, { plugins: [asks], outside: [outside({ setup: never })], clock })
  const refused = assert.rejects(
    starting,
    /^StartError: plugin tide: its setup takes longer than 60 s; correct or remove it, or start without it: AV_PLUGINS_OFF=tide$/,
  )
  let isOver = false
  void refused.then(
    () => (isOver = true),
    () => (isOver = true),
  )

  while (!isOver) await clock.advance(20_000)
  await refused
})

test('an external close that hangs is abandoned, by name', async (t) => {
  const { lines, log } = aLog()
  const app = await testApp(t, { plugins: [asks], outside: [outside({ close: never })], log })

  const closing = app.close()
  let isOver = false
  void closing.then(() => (isOver = true))
  while (!isOver) await app.clock.advance(1_000)

  assert.match(
    lines.find(({ msg }) => msg === 'a part could not be closed')?.['err'].message,
    /^plugin tide: it takes longer than 5 s to close/,
  )
})

const words = defineTask({
  name: 'tide.count',
  title: 'Count',
  payload: Type.Object({}),
  lane: 'light',
  schedule: { auto: '0 4 *' },
  outgoing: true,
  run: async () => 'counted',
})
const aTide = (more: object = {}) =>
  outside({
    tasks: [words],
    settings: { tideHeight: { env: 'AV_TIDE_HEIGHT', schema: Type.Integer(), default: 1, meaning: 'height' } },
    on: { 'word.said': () => () => Promise.reject(new Error('later')) },
    ...more,
  })

test('the data of a missing plugin prevents no start, is reported, and is there when the plugin is back', async (t) => {
  const dataDir = await temporaryFolder(t)
  const { lines, log } = aLog()
  const clock = testClock()
  const own = { dataDir, clock, log, plugins: [asks] }
  const set = { settings: { tideHeight: 3 } as never }
  const first = await testApp(t, { ...own, ...set, outside: [aTide()] })
  await first.app.schedules.set('tide.count', '0 5 *')
  await first.app.schedules.addOutgoing('tide.count', 'https://example.org/hook')
  await first.as('nobody').get('/api/say/')
  await clock.advance(0)
  await first.close()

  for (const without of [{}, { outside: [aTide()], off: ['all'] }, { outside: [aTide()], off: ['tide'] }]) {
    lines.length = 0
    const { off = [], ...rest } = without as { off?: string[] }
    const away = await testApp(t, { ...own, ...rest, settings: { tideHeight: 3, pluginsOff: off } as never })
    await clock.advance(400_000)
    assert.deepEqual(
      jobsOf(away).map(({ state }) => state),
      ['PENDING'],
    )
    await away.close()
    assert.deepEqual(
      lines.filter(({ level }) => level === 'warn').map(({ settings, jobs }) => settings ?? jobs),
      [['tideHeight'], { 'tide.hear': 1 }],
    )
  }

  const back = await testApp(t, { ...own, ...set, outside: [aTide({ on: { 'word.said': () => () => undefined } })] })
  await back.settled()
  assert.equal((back.app.settings as unknown as Loose)['tideHeight'], 3)
  assert.deepEqual(
    jobsOf(back).map(({ state }) => state),
    ['SUCCESS'],
  )
  assert.equal(back.app.schedules.get('tide.count')?.schedule, '0 5 *')
  assert.deepEqual(back.app.schedules.outgoing()['tide.count']?.urls, ['https://example.org/hook'])
})

test('the schedule of a plugin that is off rests without errors, delays no others, and makes up for one run at most', async (t) => {
  const { lines, log } = aLog()
  const clock = testClock('2026-01-15T00:00:30Z')
  const ran: string[] = []
  const counts = (name: string, auto: string) =>
    defineTask({
      ...{ name, title: name, payload: Type.Object({}), lane: 'light' },
      schedule: { auto, initially: 'auto' },
      run: async () => void ran.push(`${name} ${new Date(clock.now()).toISOString().slice(0, 19)}`),
    })
  const own = definePlugin({ name: 'own', tasks: [counts('own.count', '0 6 *')] })
  const tide = definePlugin({ name: 'tide', api: 1, tasks: [counts('tide.count', '0 * *')] })
  const app = await testApp(t, { plugins: [own], outside: [tide], log, clock })
  const schedule = () => app.app.schedules.get('tide.count')
  await app.app.plugins.switch('tide', false)

  await clock.advance(7 * 3600_000)

  assert.deepEqual(
    lines.filter(({ level }) => level !== 'info').map(({ msg }) => msg),
    [],
  )
  assert.deepEqual(ran, ['own.count 2026-01-15T06:00:00'])
  assert.equal(schedule()?.next_run_at, null)

  await app.app.plugins.switch('tide', true)
  for (let minute = 0; minute < 90; minute++) await clock.advance(60_000)

  assert.deepEqual(ran.slice(1), ['tide.count 2026-01-15T07:01:30', 'tide.count 2026-01-15T08:00:00'])
  assert.equal(schedule()?.next_run_at, '2026-01-15T09:00:00.000Z')
})

test('a setting that no plugin has ever declared still stops the start', async (t) => {
  const dataDir = await temporaryFolder(t)
  const first = await testApp(t, { dataDir, plugins: [asks], outside: [aTide()] })
  await first.close()

  assert.ok((await readFile(join(dataDir, 'plugins/settings.json'), 'utf8')).includes('AV_TIDE_HEIGHT'))
  await assert.rejects(
    testApp(t, { dataDir, plugins: [asks], settings: { tideHight: 3 } as never }),
    /there is no setting tideHight/,
  )
  await assert.rejects(
    testApp(t, { dataDir, plugins: [asks], outside: [outside({})], settings: { tideHeight: 3 } as never }),
    /there is no setting tideHeight/,
  )
})

test('a plugin that others need cannot be disabled alone, and an unknown name is reported', async (t) => {
  const { lines, log } = aLog()

  await assert.rejects(
    testApp(t, { plugins: [asks], outside: [outside({})], settings: { pluginsOff: ['asks'] } }),
    /AV_PLUGINS_OFF: asks cannot be switched off because tide needs it; switch that off too, or remove asks from the list/,
  )
  const app = await testApp(t, {
    plugins: [asks],
    outside: [outside({ version: '2.1' })],
    settings: { pluginsOff: ['asks', 'tide', 'moon'] },
    log,
  })

  assert.deepEqual(
    app.app.plugins.list().map(({ name, isOn, isBuiltIn }) => [name, isOn, isBuiltIn]),
    [
      ['accounts', true, true],
      ['fetch', true, true],
      ['lanes', true, true],
      ['sqlite', true, true],
      ['asks', false, true],
      ['tide', false, false],
    ],
  )
  assert.deepEqual(lines.find(({ names }) => names)?.['names'], ['moon'])
})

test('a plugin that does not declare its version of the plugin API is told so in the log', async (t) => {
  const { lines, log } = aLog()

  await testApp(t, { plugins: [asks], outside: [outside({}), definePlugin({ name: 'moon', api: 1 })], log })

  const warnings = lines.filter(({ level }) => level === 'warn')
  assert.deepEqual(
    warnings.map(({ plugin, msg }) => [plugin, msg]),
    [['tide', 'deprecated: its manifest does not say which version of the plugin API it is made for: add api: 1']],
  )
})

for (const [why, call] of [
  ['fails', () => Promise.reject(new Error('dry'))],
  ['never answers', never],
] as const) {
  test(`an external check of preferences that ${why} refuses the change by name; a listener that does is only logged`, async (t) => {
    const height = { height: Type.Integer({ default: 1 }) }
    const tide = definePlugin({
      name: 'tide',
      preferences: { tide: height, other: height },
      setup({ preferences }) {
        preferences.judge('tide' as never, call)
        preferences.watch(call as never)
      },
    })
    const app = await testApp(t, { plugins: [asks], outside: [tide] })
    const lastFailure = () => app.app.plugins.list().find(({ name }) => name === 'tide')?.lastFailure?.message
    const change = (section: string) => app.app.preferences.change({ [section]: { height: 2 } })

    await change('other')
    await app.clock.advance(30_000)
    assert.match(lastFailure()!, /^dry$|^no answer to preferences\.watch within 30 s$/)
    const refused = assert.rejects(change('tide'), {
      code: 'unavailable',
      message: /^The plugin tide could not answer/,
    })
    await app.clock.advance(30_000)

    await refused
    assert.match(lastFailure()!, /^dry$|^no answer to preferences\.judge within 30 s$/)
  })
}

const LENIENT = { pluginsStrict: false }
const BROKEN: Array<[why: string, plugin: Plugin, fault: RegExp]> = [
  [
    'has no proper manifest',
    { name: 'tide', routes: {} as never },
    /^plugin tide \(test\/tide\): its routes must be an array$/,
  ],
  [
    'needs one that is not there',
    { name: 'tide', needs: ['moon'] },
    /^plugin tide needs the plugin moon, which is not installed/,
  ],
  [
    'takes a name of another',
    { name: 'tide', tasks: [words], needs: ['asks'], owns: [], commands: [], events: ['word.said'] as never[] },
    /^the event word\.said has two owners/,
  ],
  [
    'has an index without fields',
    { name: 'tide', indexes: [{ name: 'tide', doc: Type.Object({}) } as never] },
    /its index tide: fields is required/,
  ],
  [
    'has a migration that fails',
    { name: 'tide', migrations: [{ number: 1, sql: 'CREATE TABLE tide_x (' }] },
    /^Ledger migration 1 of tide failed/,
  ],
  [
    'fails in its services',
    {
      name: 'tide',
      services: () => {
        throw new Error('dry')
      },
    },
    /^plugin tide: dry$/,
  ],
  [
    'fails in its setup',
    { name: 'tide', setup: () => Promise.reject(new Error('no water in /srv/tide/basin')) },
    /^plugin tide: no water in …\/basin$/,
  ],
]

for (const [why, plugin, fault] of BROKEN) {
  test(`a start leaves out an external plugin that ${why}, with those that need it, and says why`, async (t) => {
    const { lines, log } = aLog()
    const sea = definePlugin({ name: 'sea', needs: ['tide'] })
    const sun = definePlugin({ name: 'sun', routes: [aRoute('/api/sun/', () => ({}))] })

    const app = await testApp(t, { plugins: [asks], outside: [plugin, sea, sun], settings: LENIENT, log })

    assert.equal((await app.as('nobody').get('/api/sun/')).status, 200)
    const left = app.app.plugins.list().filter((one) => one.fault !== undefined)
    assert.deepEqual(
      left.map(({ name, isOn }) => [name, isOn]),
      [
        ['tide', false],
        ['sea', false],
      ],
    )
    assert.match(left[0]!.fault!, fault)
    assert.equal(left[1]!.fault, 'plugin sea needs the plugin tide, which is left out because it is broken')
    assert.equal(lines.filter(({ msg }) => /^the plugin is left out: /.test(msg)).length, 2)
    await assert.rejects(testApp(t, { plugins: [asks], outside: [plugin, sea, sun] }), {
      message: /AV_PLUGINS_OFF=tide$/,
    })
  })
}

test('an external plugin with the name of a built-in one is left out, and the built-in one stays', async (t) => {
  const app = await testApp(t, { outside: [definePlugin({ name: 'stats' })], settings: LENIENT })

  const called = app.app.plugins.list().filter(({ name }) => name === 'stats')
  assert.deepEqual(
    called.map(({ isBuiltIn, isOn }) => [isBuiltIn, isOn]),
    [
      [true, true],
      [false, false],
    ],
  )
  assert.match(called[1]!.fault!, /^two plugins are called stats/)
  assert.equal((await app.as('user').get('/api/stats/video/')).status, 200)
})

test('a defect of built-in code still ends the start, whatever external plugins there are', async (t) => {
  const fails = definePlugin({ name: 'own', setup: () => Promise.reject(new Error('dry')) })

  await assert.rejects(
    testApp(t, { plugins: [fails], outside: [outside({ needs: [] })], settings: LENIENT }),
    /plugin own: dry/,
  )
})

test('an external plugin emits its own events, and no others', async (t) => {
  const heard: unknown[] = []
  const tide = outside({
    events: ['tide.turned'],
    on: { 'tide.turned': () => (event: object) => void heard.push(event) },
    routes: [
      aRoute('/api/turn/', async (app) => (await loose(app)['emit']('tide.turned', { n: 1 }), {})),
      aRoute('/api/forge/', async (app) => (await loose(app)['emit']('word.said', { word: 'x' }), {})),
    ],
  })
  const app = await testApp(t, { plugins: [asks], outside: [tide] })

  assert.equal((await app.as('nobody').get('/api/turn/')).status, 200)
  await app.settled()
  assert.equal((await app.as('nobody').get('/api/forge/')).status, 500)

  assert.deepEqual(heard, [{ n: 1 }])
  assert.match(
    app.app.plugins.list().find(({ name }) => name === 'tide')?.lastFailure?.message ?? '',
    /^The plugin tide may not emit word\.said: its manifest does not list it in `events`$/,
  )
})

test('an external plugin whose answers for the page fail does not keep people from it', async (t) => {
  const fails = () => () => {
    throw new Error('dry')
  }
  const asked = ['session.groups', 'session.shelves', 'session.community', 'platform.halted', 'platform.cookie']
  const tide = outside({
    needs: ['user', 'platform', 'video'],
    implements: {
      ...Object.fromEntries(asked.map((hook) => [hook, fails])),
      'video.keys': () => () => undefined,
    },
  })
  const app = await testApp(t, { outside: [tide], settings: NO_PROGRAMS })
  await app.given(aVideo({ id: 'v1' }))

  for (const path of ['/api/session/', '/api/platform/', '/api/video/']) {
    const { status, text } = await app.as('admin').get(path)
    assert.equal(status, 200, text)
  }
})
