/** The storage of changes: each once, long texts as differences, numbers more sparsely with age. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { thinned } from '../../../plugins/history/numbers.ts'
import { aVideo, testApp } from '../../support/testing.ts'

const DAY = 86_400
const textOf = (number: number) =>
  Array.from({ length: 200 }, (_, word) => `word${(word * 7919 + number) % 1009}`).join(' ')

test('long texts are read as they were written, however often they changed', async (t) => {
  const { app } = await testApp(t)
  const { rows } = app.history
  const about = { kind: 'video', subject: 'v1', part: 'description' } as const
  await app.ledger.write(() => {
    for (let edit = 0; edit < 20; edit++)
      rows.add({ ...about, seenAt: edit, before: `${textOf(1)} ${edit}`, after: `${textOf(1)} ${edit + 1}` })
  })

  const read = rows.of('video', 'v1')

  assert.deepEqual(
    read.map(({ before, after }) => [before, after]),
    Array.from({ length: 20 }, (_, edit) => [`${textOf(1)} ${edit}`, `${textOf(1)} ${edit + 1}`]),
  )
  const { bytes } = app.ledger
    .sql<{ bytes: number }>('SELECT sum(coalesce(length(before), 0) + length(after)) AS bytes FROM history_change')
    .get()!
  assert.ok(bytes < 4 * textOf(1).length, `${bytes} bytes`)
})

test('a dictionary of the archive shortens texts, and rows that were written without it stay readable', async (t) => {
  const { app, given } = await testApp(t)
  const { rows } = app.history
  const textAt = (number: number) =>
    `${textOf(number)}\nFollow the harbour: “quoted” \\n \ue000`.slice(0, number > 0 ? -2 : undefined)
  const add = (subject: string, text: string) =>
    app.ledger.write(() =>
      rows.add({ kind: 'video', subject, part: 'description', seenAt: 1, before: text, after: `${text}.` }),
    )
  const sizeOf = (subject: string) =>
    app.ledger
      .sql<{ bytes: number }>('SELECT length(before) AS bytes FROM history_change WHERE subject = ?')
      .get(subject)!.bytes
  await given(...Array.from({ length: 1000 }, (_, at) => aVideo({ id: `v${at}`, description: textAt(at + 1) })))
  await add('early', textAt(2000))
  await app.jobs.ended((await app.jobs.start('history.settle')).id)
  await add('late', textAt(2000))
  await add('strange', textAt(0))

  const texts = ['early', 'late', 'strange'].map((subject) => rows.of('video', subject)[0]!.before)
  assert.deepEqual(texts, [textAt(2000), textAt(2000), textAt(0)])
  assert.equal(sizeOf('late') < sizeOf('early'), true, `${sizeOf('late')} of ${sizeOf('early')}`)
  await app.jobs.ended((await app.jobs.start('history.settle')).id)
  assert.equal(app.ledger.sql<{ count: number }>('SELECT count(*) AS count FROM history_dictionary').get()!.count, 1)
})

test('videos that a restore marks as lost are compared once, and a start compares nothing', async (t) => {
  const app = await testApp(t)
  const settle = async () => {
    const { history, jobs } = app.app
    await jobs.ended((await jobs.start('history.settle')).id)
    return ['v1', 'v2'].filter((id) => history.losses.get('video', id))
  }
  await app.settled()
  await app.given(aVideo({ id: 'v1', active: false }))
  assert.deepEqual(await settle(), [])

  await app.app.emit('index.replaced', {})
  await app.settled()
  assert.deepEqual(await settle(), ['v1'])

  await app.given(aVideo({ id: 'v2', active: false }))
  await app.restart()
  await app.settled()
  assert.deepEqual(await settle(), ['v1'])

  await app.app.emit('ledger.replaced', {})
  await app.settled()
  assert.deepEqual(await settle(), ['v1', 'v2'])
})

test('a value that equals the newest change is not written again', async (t) => {
  const { app } = await testApp(t)
  const { rows } = app.history
  const add = (before: string, after: string) =>
    app.ledger.write(() => rows.add({ kind: 'video', subject: 'v1', part: 'title', seenAt: 1, before, after }))

  const added = [await add('one', 'two'), await add('one', 'two'), await add('two', 'one'), await add('one', 'two')]

  assert.deepEqual(added, [true, false, true, true])
  assert.equal(rows.count({ kind: 'video', subject: 'v1' }), 3)
})

test('of daily numbers, one per week of old ones and one per month of very old ones is kept', () => {
  const now = 800 * DAY
  const days = Array.from({ length: 801 }, (_, day) => day * DAY)

  const gone = new Set(thinned(days, now))

  const kept = days.filter((at) => !gone.has(at)).map((at) => at / DAY)
  const between = (from: number, to: number) => kept.filter((day) => day > from && day < to)
  assert.deepEqual(between(770, 801).length, 30)
  assert.ok(between(0, 400).every((day, at, all) => at === 0 || day - all[at - 1]! >= 30))
  assert.ok(between(500, 760).every((day, at, all) => at === 0 || day - all[at - 1]! >= 7))
  assert.deepEqual([kept[0], kept.at(-1)], [0, 800])
  assert.ok(kept.length < 110, `${kept.length}`)
})
