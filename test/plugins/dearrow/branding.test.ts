/** Which of several proposals is the best, and how its text becomes a title. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { best, plainTitle } from '../../../plugins/dearrow/branding.ts'

interface Proposal {
  name: number
  votes?: number
  locked?: boolean
  original?: boolean
}

/** All lists of up to three proposals with these votes. */
function* lists(): Generator<Proposal[]> {
  const kinds = [-1, 0, 3].flatMap((votes) =>
    [true, false].flatMap((locked) => [true, false].map((original) => ({ votes, locked, original }))),
  )
  const named = (all: object[]) => all.map((one, name) => ({ ...one, name }))
  for (const a of kinds) {
    yield named([a])
    for (const b of kinds) {
      yield named([a, b])
      for (const c of kinds) yield named([a, b, c])
    }
  }
}

test('the locked proposal is the best, else the one with most votes, never one with a negative score', () => {
  assert.equal(best([]), undefined)
  for (const all of lists()) {
    const chosen = best(all)
    const words = JSON.stringify(all)
    const accepted = all.filter(({ locked, votes }) => locked || votes! >= 0)
    const locked = all.filter((one) => one.locked)
    const first = locked[0] ?? accepted.find(({ votes }) => votes === Math.max(...accepted.map((one) => one.votes!)))
    assert.equal(chosen?.name, first?.original ? undefined : first?.name, words)
  }
})

test('markers of capitals are removed from a title, all other characters stay', () => {
  for (const [sent, shown] of [
    ['>NASA lands on >Mars', 'NASA lands on Mars'],
    ['How >iPhones are made', 'How iPhones are made'],
    ['5 > 3 and a->b', '5 > 3 and a->b'],
    ['  a\tb\n\u0000c ', 'a b c'],
    ['>>Twice', '>Twice'],
    ['‹b›bold', '‹b›bold'],
    [' > ', '>'],
  ] as const)
    assert.equal(plainTitle(sent), shown)
})
