import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLanes } from '../../../plugins/plugin-kit/lanes.ts'
import { gate } from '../../core/jobs/workshop.ts'
import { testClock } from '../../support/clock.ts'

function aLane() {
  const clock = testClock()
  const lanes = openLanes({ clock, lanes: ['item'] })
  const done: string[] = []
  const item = (
    asker: string,
    name = asker,
    options: { isUrgent?: boolean; signal?: AbortSignal; waitMs?: number } = {},
  ) => lanes.turn('item', { asker, ...options }, async () => void done.push(name))
  return { clock, lanes, done, item }
}

test('one item at a time is processed, and callers take turns however many items one of them has', async () => {
  const { lanes, done, item } = aLane()
  const held = gate()
  const first = lanes.turn('item', { asker: 'queue' }, () => held.passed)

  const all = [
    ...['q1', 'q2', 'q3'].map((name) => item('queue', name)),
    ...['a1', 'a2'].map((name) => item('a', name)),
    item('b', 'b1'),
  ]
  assert.deepEqual(done, [])
  held.open()
  await Promise.all([first, ...all])

  assert.deepEqual(done, ['a1', 'b1', 'q1', 'a2', 'q2', 'q3'])
})

test('a job with a long list lets a later one in after its current item', async () => {
  const { done, item } = aLane()
  const long = async () => {
    for (let number = 0; number < 1000; number++) await item('long', `long ${number}`)
  }
  const running = long()

  await item('late', 'late')

  assert.ok(done.indexOf('late') <= 2, `came after ${done.indexOf('late')} items`)
  await running
})

test('an urgent request enters before the next item of any job', async () => {
  const { lanes, done, item } = aLane()
  const held = gate()
  const first = lanes.turn('item', { asker: 'a' }, () => held.passed)

  const all = [item('b'), item('c'), item('request', 'urgent', { isUrgent: true })]
  held.open()
  await Promise.all([first, ...all])

  assert.deepEqual(done, ['urgent', 'b', 'c'])
})

test('urgent requests take every second turn while jobs wait', async () => {
  const { lanes, done, item } = aLane()
  const held = gate()
  const first = lanes.turn('item', { asker: 'request', isUrgent: true }, () => held.passed)

  const all = [
    ...['u1', 'u2', 'u3'].map((name) => item('request', name, { isUrgent: true })),
    ...['a1', 'a2'].map((name) => item('a', name)),
  ]
  held.open()
  await Promise.all([first, ...all])

  assert.deepEqual(done, ['a1', 'u1', 'a2', 'u2', 'u3'])
})

test('a caller that waits too long gets unavailable, and the others move up', async () => {
  const { clock, lanes, done, item } = aLane()
  const held = gate()
  const first = lanes.turn('item', { asker: 'a' }, () => held.passed)
  const refused = assert.rejects(item('request', 'request', { isUrgent: true, waitMs: 20_000 }), {
    code: 'unavailable',
  })
  const other = item('b')

  await clock.advance(20_000)
  await refused
  held.open()
  await Promise.all([first, other])

  assert.deepEqual(done, ['b'])
})

test('an abort ends the wait, and a failed item frees the lane', async () => {
  const { lanes, done, item } = aLane()
  const held = gate()
  const first = assert.rejects(
    lanes.turn('item', { asker: 'a' }, () => held.passed),
    /broken/,
  )
  const controller = new AbortController()
  const waiting = assert.rejects(item('b', 'b', { signal: controller.signal }), /enough/)

  controller.abort(new Error('enough'))
  await waiting
  held.fail(new Error('broken'))
  await first
  await item('c')

  assert.deepEqual(done, ['c'])
})

test('a widened lane processes this many items at once, and fewer again when it is narrowed', async () => {
  const { lanes, done, item } = aLane()
  const held = [gate(), gate()]
  const turns = held.map(({ passed }) => lanes.turn('item', { asker: 'a' }, () => passed))
  lanes.widen('item', 2)
  const third = item('b', 'third')
  await new Promise(setImmediate)
  assert.deepEqual(done, [], 'both places are taken')

  lanes.widen('item', 1)
  held[0]!.open()
  await turns[0]
  await new Promise(setImmediate)
  assert.deepEqual(done, [], 'one is still worked on')
  held[1]!.open()
  await Promise.all([turns[1], third])
  assert.deepEqual(done, ['third'])
})

test('leaving a turn early lets the next one in, once', async () => {
  const { lanes, done, item } = aLane()
  const held = [gate(), gate()]
  const first = lanes.turn('item', { asker: 'a' }, (leave) => {
    leave()
    leave()
    return held[0]!.passed
  })
  const second = lanes.turn('item', { asker: 'b' }, () => held[1]!.passed)
  const third = item('c', 'third')
  held[0]!.open()
  await first
  await new Promise(setImmediate)
  assert.deepEqual(done, [], 'the second has its turn')

  held[1]!.open()
  await Promise.all([second, third])
  assert.deepEqual(done, ['third'])
})
