/** Retention of snapshots: by age, by number, and none from before a loss is removed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SnapshotRecord } from 'archivolt'
import { outdated, roomFor } from '../../../plugins/snapshot/retention.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-01-15T12:00:00Z')

const ofDays = (days: readonly number[], state: SnapshotRecord['state'] = 'SUCCESS'): SnapshotRecord[] =>
  days.map((day) => ({ id: `${state} ${day}`, state, version: '', startedAt: NOW - day * DAY_MS, endedAt: 0 }))
const removed = (snapshots: SnapshotRecord[], lostSince?: number): string[] =>
  outdated(snapshots, NOW, lostSince).map(({ id }) => id)

test('snapshots older than 30 days are removed, but five complete ones stay', () => {
  assert.deepEqual(removed(ofDays([0, 1, 2, 30, 31, 40])), ['SUCCESS 40'])
  assert.deepEqual(removed(ofDays([40, 50, 60, 70, 80])), [])
})

test('more than fifty are never kept', () => {
  const many = ofDays(Array.from({ length: 52 }, (_, hour) => hour / 24))

  assert.equal(removed(many).length, 2)
})

test('failed ones are removed when they are old, a running one stays', () => {
  assert.deepEqual(removed([...ofDays([1, 31], 'FAILED'), ...ofDays([40], 'IN_PROGRESS')]), ['FAILED 31'])
})

test('while documents are missing, no earlier snapshot is removed', () => {
  const snapshots = ofDays([1, 2, 3, 4, 5, 31, 32, 40])

  assert.deepEqual(removed(snapshots, NOW - 35 * DAY_MS), ['SUCCESS 31', 'SUCCESS 32'])
})

test('complete copies share a size limit: the oldest beyond it are removed, and never the newest', () => {
  const sized = (bytes: number) => ofDays([0, 1, 2, 3]).map((one) => ({ ...one, bytes }))
  const removedFor = (room: number, bytes = 10) => outdated(sized(bytes), NOW, undefined, room).map(({ id }) => id)

  assert.deepEqual(removedFor(40), [])
  assert.deepEqual(removedFor(29), ['SUCCESS 2', 'SUCCESS 3'])
  assert.deepEqual(removedFor(5), ['SUCCESS 1', 'SUCCESS 2', 'SUCCESS 3'])
  assert.deepEqual(outdated(ofDays([0, 1]), NOW, undefined, 0), [], 'what shares its bytes with others counts for none')
})

test('a future date from a wrong clock counts as the oldest: the truly newest stays', () => {
  const snapshots = ofDays([-9, -8, 0, 1]).map((one) => ({ ...one, bytes: 10 }))

  assert.deepEqual(
    outdated(snapshots, NOW, undefined, 10).map(({ id }) => id),
    ['SUCCESS 1', 'SUCCESS -9', 'SUCCESS -8'],
  )
})

test('the size limit depends on the newest snapshot and the disk, unless somebody has set one', () => {
  const GB = 1e9

  assert.equal(roomFor(7, 2 * GB, 100 * GB), 7 * GB)
  assert.equal(roomFor(false, 1.4 * GB, 4000 * GB), 14 * GB)
  assert.equal(roomFor(false, 1.4 * GB, 100 * GB), 10 * GB)
  assert.equal(roomFor(false, 1.4 * GB, 8 * GB), 2.8 * GB)
  assert.equal(roomFor(false, 1e6, 100 * GB), GB)
})
